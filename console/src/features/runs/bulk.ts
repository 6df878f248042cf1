// A bulk action: counted by a preview, then an operation of the servers that goes on whether or not this page stays open.
import { useQuery } from "@tanstack/react-query";
import { priorityOf } from "@/components/runs/PriorityInput";
import { call } from "@/lib/api/client";
import type { RunAction } from "@/lib/state/run";

const LOOK_MS = 500;

export interface BulkWish {
  action: RunAction;
  /** Chosen runs; without them, all that the query finds. */
  runs: string[] | undefined;
  q: string;
  namespace: string | undefined;
  priority: number | undefined;
}

const bodyOf = ({ action, runs, q, priority }: BulkWish) => ({
  action,
  ...(runs ? { runs } : { q }),
  ...(priority === undefined ? {} : { priority: priorityOf(priority) }),
});

export const usePreview = (wish: BulkWish, enabled: boolean) =>
  useQuery({
    queryKey: ["bulk-preview", wish.action, wish.q, wish.namespace ?? "", wish.runs ?? []],
    queryFn: ({ signal }) =>
      call("run_bulk", {
        query: { namespace: wish.namespace },
        // A preview of a priority counts the same whichever it is.
        body: {
          ...bodyOf({ ...wish, priority: wish.action === "prioritise" ? 0 : undefined }),
          preview: true,
        },
        signal,
      }),
    select: (answer) => ("counts" in answer ? answer : undefined),
    enabled,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Starts the operation; refused when more runs match than were shown. */
export async function start(wish: BulkWish, expected: number | undefined): Promise<string> {
  const answer = await call("run_bulk", {
    query: { namespace: wish.namespace },
    body: { ...bodyOf(wish), preview: false, expected_max: expected },
  });
  if (!("id" in answer)) throw new Error("the server counted instead of acting");
  return answer.id;
}

/** An operation as it goes on. */
export const useOperation = (id: string | undefined) =>
  useQuery({
    queryKey: ["bulk", id ?? ""],
    queryFn: ({ signal }) => call("bulk_get", { path: { operation: id ?? "" }, signal }),
    enabled: id !== undefined,
    refetchInterval: (query) => (query.state.data?.state === "running" ? LOOK_MS : false),
  });
