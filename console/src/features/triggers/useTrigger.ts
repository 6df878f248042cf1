import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { isActive } from "@/components/triggers/backfills";
import { triggerKey } from "@/components/triggers/useLedger";
import { call } from "@/lib/api/client";
import { useWatch } from "@/lib/live/live";
import type { WatchEvent } from "@/lib/live/message";
import { throttled } from "@/lib/live/throttle";

/** Events say when it fires, and how far its backfills are. */
const REFRESH_MS = 60_000;
const BUSY_MS = 1500;

/** The trigger and its backfills; a run of its job reads them anew. */
export function useTrigger(ns: string, job: string, name: string) {
  const client = useQueryClient();
  const request = { path: { job, trigger: name }, query: { namespace: ns } };
  const trigger = useQuery({
    queryKey: [...triggerKey(ns, job, name), "trigger"],
    queryFn: ({ signal }) => call("trigger_get", { ...request, signal }),
    refetchInterval: REFRESH_MS,
  });
  const backfills = useQuery({
    queryKey: [...triggerKey(ns, job, name), "backfills"],
    queryFn: ({ signal }) => call("backfill_list", { ...request, signal }),
    refetchInterval: (query) => (query.state.data?.items.some(isActive) ? BUSY_MS : REFRESH_MS),
  });
  const id = trigger.data?.job;
  const reread = useMemo(
    () => throttled(() => void client.invalidateQueries({ queryKey: triggerKey(ns, job, name) }), 2000),
    [client, ns, job, name],
  );
  useEffect(() => () => reread.cancel(), [reread]);
  useWatch(
    useCallback(
      (event: WatchEvent) => {
        const isOurs = (event.kind === "run" || event.kind === "trigger_paused") && event.job === id;
        if (event.kind === "reset" || isOurs) reread();
      },
      [id, reread],
    ),
  );
  return { trigger, backfills };
}
