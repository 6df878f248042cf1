// What is shown of a backfill.
import type { Backfill, BackfillState } from "@/lib/api/schema";
import type { Tone } from "@/lib/state/tone";
import { millis } from "@/lib/time/format";

export const BACKFILL_TONES: Record<BackfillState, Tone> = {
  running: "running",
  finishing: "running",
  done: "success",
  stopped: "cancelled",
};

export const isActive = (backfill: Backfill) =>
  backfill.state === "running" || backfill.state === "finishing";

/** How much of its range it has looked at, 0 to 1. */
export function shareOf(backfill: Backfill): number {
  if (backfill.state !== "running") return 1;
  const [from, until, cursor] = [backfill.from, backfill.until, backfill.cursor].map((at) => millis(at));
  if (from === undefined || until === undefined || cursor === undefined || until <= from) return 0;
  const share = (cursor - from) / (until - from);
  return Math.min(1, Math.max(0, backfill.order === "newest" ? 1 - share : share));
}

/** Its parts as they stand in the bar: what ended well, badly, otherwise, what runs. */
export const partsOf = (
  backfill: Backfill,
): { tone: Tone; name: "succeeded" | "failed" | "other" | "active"; count: number }[] => [
  { tone: "success", name: "succeeded", count: backfill.succeeded },
  { tone: "final_failed", name: "failed", count: backfill.failed },
  { tone: "cancelled", name: "other", count: backfill.other },
  { tone: "running", name: "active", count: backfill.active.length },
];
