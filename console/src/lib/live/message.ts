// What the stream tells the pages.
import type { NodeState, OccurrenceOutcome, Reason, RunState } from "@/lib/api/schema";

/** Kinds of events that the console asks for; `hello` and `reset` are told to everybody. */
export const KINDS = [
  "run",
  "node",
  "trigger_paused",
  "job",
  "trigger",
  "occurrence",
  "backfill",
  "progress",
  "reason",
] as const;

interface Told {
  mark: string;
  at: string;
}
interface OfTrigger extends Told {
  namespace: string;
  job: string;
  trigger: string;
}
interface OfRun extends Told {
  id: string;
  namespace: string;
  job: string;
}

export type WatchEvent =
  | { kind: "hello"; mark: string; now: string; software: string }
  | ({ kind: "run"; state: RunState; version: number; attempt: number } & OfRun)
  | {
      kind: "node";
      mark: string;
      id: string;
      name: string;
      pool: string;
      state: NodeState;
      revision: number;
    }
  | ({ kind: "trigger_paused"; job_name: string; note?: string } & Omit<OfTrigger, "at">)
  | ({ kind: "job"; id: string; namespace: string; name: string } & Told)
  | ({ kind: "trigger"; next?: string; paused: boolean } & OfTrigger)
  | ({ kind: "occurrence"; planned: string; outcome: OccurrenceOutcome; run?: string } & OfTrigger)
  | ({ kind: "backfill"; id: string; over: boolean; made: number } & OfTrigger)
  | ({ kind: "progress"; fraction: number; message: string } & OfRun)
  | ({ kind: "reason"; reason?: Reason } & OfRun)
  | { kind: "reset"; mark: string };

export type LiveMessage =
  | { kind: "connecting" }
  | { kind: "live"; healed: boolean }
  | { kind: "down"; since: number; retryAt: number }
  | { kind: "event"; event: WatchEvent };

export type LiveCommand = { kind: "hello"; url: string } | { kind: "retry" } | { kind: "bye" };
