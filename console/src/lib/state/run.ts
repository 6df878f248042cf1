// The one table of run states: colour, icon, shape and actions. Exhaustive by type: a new state of the API does not compile
// until it has its row. Words are in common/words (`state.*`).
import {
  IconAlertOctagon,
  IconBan,
  IconCircleCheck,
  IconClock,
  IconHourglass,
  IconLoader2,
  IconPlayerSkipForward,
  IconRotateClockwise,
} from "@tabler/icons-react";
import type { Permission } from "@/lib/api/permissions";
import type { Reason, Run, RunState } from "@/lib/api/schema";
import type { Tone } from "./tone";
import { TRANSITIONS } from "./transitions";

interface StateFace {
  tone: Tone;
  icon: typeof IconClock;
}

export const RUN_STATES: Record<RunState, StateFace> = {
  ready: { tone: "ready", icon: IconClock },
  waiting: { tone: "waiting", icon: IconHourglass },
  running: { tone: "running", icon: IconLoader2 },
  failed: { tone: "failed", icon: IconRotateClockwise },
  success: { tone: "success", icon: IconCircleCheck },
  final_failed: { tone: "final_failed", icon: IconAlertOctagon },
  cancelled: { tone: "cancelled", icon: IconBan },
  skipped: { tone: "skipped", icon: IconPlayerSkipForward },
};

export const STATE_NAMES = Object.keys(RUN_STATES) as RunState[];

export const isEnded = (state: RunState) => Object.keys(TRANSITIONS[state]).length === 0;

export type RunAction = "cancel" | "kill" | "retry" | "rerun" | "prioritise";

export const ACTION_PERMISSION: Record<RunAction, Permission> = {
  cancel: "run.cancel",
  kill: "run.cancel",
  retry: "run.retry",
  rerun: "run.rerun",
  prioritise: "run.prioritise",
};

/** What can be done with a run in its state, the most useful first. */
export function actionsOf(
  run: Pick<Run, "state" | "cancel_requested_by"> & { reason?: Reason | null },
): RunAction[] {
  if (isEnded(run.state)) return ["rerun"];
  const actions: RunAction[] = [];
  if (run.state === "failed" || run.reason?.kind === "quarantined") actions.push("retry");
  if ("cancel" in TRANSITIONS[run.state] && !run.cancel_requested_by) actions.push("cancel");
  if (run.state === "running") actions.push("kill");
  else actions.push("prioritise");
  return actions;
}
