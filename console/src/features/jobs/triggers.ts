// What is shown of a trigger.
import type { JobTrigger } from "@/lib/api/schema";
import type { Tone } from "@/lib/state/tone";

export type TriggerFace = "active" | "waits" | "event" | "paused" | "self_paused" | "over";

export const TRIGGER_TONES: Record<TriggerFace, Tone> = {
  active: "success",
  waits: "waiting",
  event: "ready",
  paused: "cancelled",
  self_paused: "final_failed",
  over: "skipped",
};

export function triggerFace(trigger: JobTrigger): TriggerFace {
  if (trigger.pause) return trigger.pause.by === "mainspring" ? "self_paused" : "paused";
  if (trigger.waits_for) return "waits";
  if ("webhook" in trigger.spec || "after" in trigger.spec) return "event";
  return trigger.next ? "active" : "over";
}

export { zoneOf } from "@/lib/time/zone";
