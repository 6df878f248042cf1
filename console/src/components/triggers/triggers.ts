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
  if (!isPlanned(trigger)) return "event";
  return trigger.next ? "active" : "over";
}

/** Whether it counts moments of the clock: only those can be planned, made up for and moved. */
export const isPlanned = ({ spec }: JobTrigger): boolean => "cron" in spec || "every" in spec || "at" in spec;

/** When it fires, in the reader's language. */
export const inWords = (trigger: JobTrigger, language: string): string =>
  language === "zh" ? trigger.description.zh : trigger.description.en;
