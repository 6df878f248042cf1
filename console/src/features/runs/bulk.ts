// A bulk action as today's API offers it: pages of at most 10,000 runs, counted by a preview first.
import { call } from "@/lib/api/client";
import type { BulkFailure } from "@/lib/api/schema";
import type { RunAction } from "@/lib/state/run";

export interface BulkCount {
  matched: number;
  /** Whether all pages were counted. */
  exact: boolean;
  sample: string[];
}

export interface BulkProgress {
  done: number;
  matched: number;
  failures: BulkFailure[];
  isOver: boolean;
}

const PREVIEW_PAGES_MAX = 10;

export async function preview(
  action: RunAction,
  q: string,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<BulkCount> {
  const count: BulkCount = { matched: 0, exact: true, sample: [] };
  let cursor: string | undefined;
  for (let page = 0; page < PREVIEW_PAGES_MAX; page += 1) {
    const answer = await call("run_bulk", {
      query: { namespace },
      body: { action, q, preview: true, cursor },
      signal,
    });
    count.matched += answer.matched;
    count.sample.push(...(answer.sample ?? []));
    cursor = answer.next_cursor ?? undefined;
    if (!cursor) return { ...count, sample: count.sample.slice(0, 5) };
  }
  return { ...count, exact: false, sample: count.sample.slice(0, 5) };
}

/** Acts page by page; `isStopped` is asked before each. `expected` bounds what one page may touch. */
export async function perform(
  action: RunAction,
  q: string,
  namespace: string | undefined,
  expected: number,
  onProgress: (progress: BulkProgress) => void,
  isStopped: () => boolean,
): Promise<BulkProgress> {
  const progress: BulkProgress = { done: 0, matched: 0, failures: [], isOver: false };
  let cursor: string | undefined;
  while (!isStopped()) {
    const left = Math.max(0, expected - progress.matched);
    const answer = await call("run_bulk", {
      query: { namespace },
      body: { action, q, preview: false, cursor, expected_max: left },
    });
    progress.done += answer.done;
    progress.matched += answer.matched;
    progress.failures.push(...(answer.failures ?? []));
    cursor = answer.next_cursor ?? undefined;
    progress.isOver = !cursor;
    onProgress({ ...progress });
    if (!cursor) break;
  }
  return { ...progress, isOver: true };
}

/** Acts on chosen runs, a few at a time. */
export async function performEach(
  action: RunAction,
  ids: string[],
  onProgress: (progress: BulkProgress) => void,
  isStopped: () => boolean,
): Promise<BulkProgress> {
  const progress: BulkProgress = { done: 0, matched: ids.length, failures: [], isOver: false };
  const rest = [...ids];
  const worker = async () => {
    for (let id = rest.shift(); id && !isStopped(); id = rest.shift()) {
      try {
        await one(action, id);
        progress.done += 1;
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "";
        progress.failures.push({ id, code, detail: error instanceof Error ? error.message : String(error) });
      }
      onProgress({ ...progress });
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return { ...progress, isOver: true };
}

export async function one(action: RunAction, run: string): Promise<unknown> {
  switch (action) {
    case "cancel":
    case "kill":
      return call("run_cancel", { path: { run }, body: { kill: action === "kill" } });
    case "retry":
      return call("run_retry", { path: { run } });
    case "rerun":
      return call("run_rerun", { path: { run }, body: {} });
  }
}
