// Generated from docs/states.md by `npm run types`; do not edit.
import type { RunState } from "@/lib/api/schema";

export type RunCommand = "enqueue" | "place" | "succeed" | "fail" | "requeue" | "give_up" | "cancel" | "skip";

/** Where each command leads from each state; a state without commands is terminal. */
export const TRANSITIONS: Record<RunState, Partial<Record<RunCommand, RunState>>> = {
  ready: { enqueue: "waiting", give_up: "final_failed", cancel: "cancelled", skip: "skipped" },
  waiting: { place: "running", give_up: "final_failed", cancel: "cancelled", skip: "skipped" },
  running: { succeed: "success", fail: "failed", requeue: "waiting", give_up: "final_failed", cancel: "cancelled" },
  failed: { enqueue: "waiting", give_up: "final_failed", cancel: "cancelled" },
  success: {},
  final_failed: {},
  cancelled: {},
  skipped: {},
};
