// What the stream tells the pages.
import type { RunState } from "@/lib/api/schema";

export type WatchEvent =
  | {
      kind: "run";
      mark: string;
      id: string;
      namespace: string;
      job: string;
      state: RunState;
      version: number;
      attempt: number;
      at: string;
    }
  | { kind: "node"; mark: string; id: string; name: string; pool: string; state: string; revision: number }
  | {
      kind: "trigger_paused";
      mark: string;
      namespace: string;
      job: string;
      job_name: string;
      trigger: string;
    }
  | { kind: "reset"; mark: string };

export type LiveMessage =
  | { kind: "connecting" }
  | { kind: "live"; healed: boolean }
  | { kind: "down"; since: number; retryAt: number }
  | { kind: "event"; event: WatchEvent };

export type LiveCommand = { kind: "hello"; url: string } | { kind: "retry" } | { kind: "bye" };
