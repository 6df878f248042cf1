// What the Run page reads: the run, why, attempts and timeline; and how events refresh them.
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { call } from "@/lib/api/client";
import type { Run } from "@/lib/api/schema";
import { useWatch } from "@/lib/live/live";
import type { WatchEvent } from "@/lib/live/message";
import { throttled } from "@/lib/live/throttle";
import { isEnded } from "@/lib/state/run";

/** Progress and reasons are told while somebody looks; this often a run that is not over is read again. */
const REFRESH_MS = 15_000;

export const runKey = (run: string) => ["run", run];
export const rereadRun = (client: QueryClient, run: string) =>
  client.invalidateQueries({ queryKey: runKey(run) });

export function useRun(id: string) {
  const client = useQueryClient();
  const run = useQuery({
    queryKey: [...runKey(id), "run"],
    queryFn: ({ signal }) => call("run_get", { path: { run: id }, signal }),
    refetchInterval: ({ state }) => (state.data && !isEnded(state.data.state) ? REFRESH_MS : false),
  });
  const state = run.data?.state;
  const why = useQuery({
    queryKey: [...runKey(id), "why"],
    queryFn: ({ signal }) => call("run_why", { path: { run: id }, signal }),
    refetchInterval: state === "waiting" || state === "ready" ? REFRESH_MS : false,
  });
  const attempts = useQuery({
    queryKey: [...runKey(id), "attempts"],
    queryFn: ({ signal }) => call("run_attempts", { path: { run: id }, signal }),
  });
  const timeline = useQuery({
    queryKey: [...runKey(id), "timeline"],
    queryFn: ({ signal }) => call("run_timeline", { path: { run: id }, signal }),
  });

  const reread = useMemo(() => throttled(() => void rereadRun(client, id), 1000), [client, id]);
  useEffect(() => () => reread.cancel(), [reread]);
  useWatch(
    useCallback(
      (event: WatchEvent) => {
        if (event.kind === "progress" && event.id === id) {
          const { fraction, message } = event;
          client.setQueryData<Run>([...runKey(id), "run"], (known) =>
            known && !isEnded(known.state)
              ? { ...known, progress: { ...known.progress, fraction, message } }
              : known,
          );
          return;
        }
        const isOurs = (event.kind === "run" || event.kind === "reason") && event.id === id;
        if (event.kind === "reset" || isOurs) reread();
      },
      [client, id, reread],
    ),
  );
  return { run, why, attempts, timeline };
}

/** The last success of the same job before a run, for comparison. */
export function useLastSuccess(run: Run) {
  return useQuery({
    queryKey: ["last-success", run.job, run.id],
    queryFn: async ({ signal }) => {
      const q = `job:${run.job} state:success created<${run.created_at}`;
      const page = await call("run_list", { query: { q, namespace: run.namespace, limit: 1 }, signal });
      const found = page.items[0];
      // Rows of a list carry no parameters.
      return found ? call("run_get", { path: { run: found.id }, signal }) : null;
    },
    enabled: run.state === "final_failed" || run.state === "failed",
    staleTime: Number.POSITIVE_INFINITY,
  });
}
