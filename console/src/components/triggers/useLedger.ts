// The ledger of a trigger for a window, and the moments that are still to come.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/lib/api/client";
import type { JobTrigger, Occurrence } from "@/lib/api/schema";
import { millis } from "@/lib/time/format";
import { jitterOf, momentsOf } from "./ledger";
import { isPlanned } from "./triggers";

/** Without a window, the newest so many. */
const NEWEST = 60;
const PAGE = 1000;
const PAGES_MAX = 3;
const COMING = 10;

export interface LedgerWindow {
  from: number | undefined;
  until: number | undefined;
}

export const triggerKey = (ns: string, job: string, trigger: string) => ["trigger", ns, job, trigger];

interface Lines {
  lines: Occurrence[];
  /** The oldest moment that was read, when there are more before it. */
  cutAt: number | undefined;
}

/** Reads back from the end of the window. Its beginning is not asked for: the row before it may stand for moments inside. */
async function readLines(
  { namespace, job_name: job, name }: JobTrigger,
  { from, until }: LedgerWindow,
  signal: AbortSignal,
): Promise<Lines> {
  const limit = from === undefined ? NEWEST : PAGE;
  const lines: Occurrence[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const found = await call("trigger_history", {
      path: { job, trigger: name },
      query: {
        namespace,
        limit,
        cursor,
        until: until === undefined ? undefined : new Date(until + 1).toISOString(),
      },
      signal,
    });
    lines.push(...found.items);
    cursor = found.next_cursor ?? undefined;
    const oldest = millis(found.items.at(-1)?.planned);
    const isWhole = from === undefined || (oldest !== undefined && oldest < from);
    if (isWhole) cursor = undefined;
    if (!cursor) break;
  }
  const isIn = (line: Occurrence) =>
    from === undefined || (millis(line.through) ?? millis(line.planned) ?? 0) >= from;
  return { lines: lines.filter(isIn), cutAt: cursor ? millis(lines.at(-1)?.planned) : undefined };
}

export function useComing(trigger: JobTrigger, isWanted = true) {
  const { namespace, job_name: job, name, revision, next, spec } = trigger;
  return useQuery({
    queryKey: ["firings", namespace, job, name, revision, next],
    queryFn: ({ signal }) =>
      call("trigger_preview", {
        query: { trigger: JSON.stringify(spec), namespace, job, count: COMING },
        signal,
      }),
    enabled: isWanted && isPlanned(trigger),
    placeholderData: (before) => before,
  });
}

export function useLedger(trigger: JobTrigger, window: LedgerWindow, coming: number[]) {
  const { namespace, job_name: job, name } = trigger;
  const query = useQuery({
    queryKey: [...triggerKey(namespace, job, name), "ledger", window.from ?? "", window.until ?? ""],
    queryFn: ({ signal }) => readLines(trigger, window, signal),
    refetchInterval: 60_000,
    placeholderData: (before) => before,
  });
  const jitter = jitterOf(trigger);
  const lines = query.data?.lines;
  const all = useMemo(() => (lines ? momentsOf(lines, coming, jitter) : undefined), [lines, coming, jitter]);
  return { query, moments: all, cutAt: query.data?.cutAt };
}

/** What the chart shows: the asked window, or whatever there is with a margin. */
export function spanOf(
  window: LedgerWindow,
  moments: { planned: number; through: number | undefined }[],
  now: number,
): { from: number; until: number } {
  const first = moments[0]?.planned ?? now - 3_600_000;
  const last = moments.reduce((most, each) => Math.max(most, each.through ?? each.planned), first);
  const from = window.from ?? first;
  const until = window.until ?? Math.max(last, now);
  const margin = Math.max(1000, (until - from) * 0.01);
  return { from: from - margin, until: until + margin };
}
