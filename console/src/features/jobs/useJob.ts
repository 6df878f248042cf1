import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { call } from "@/lib/api/client";
import { useWatch } from "@/lib/live/live";
import type { WatchEvent } from "@/lib/live/message";
import { throttled } from "@/lib/live/throttle";

export const jobKey = (ns: string, job: string) => ["job", ns, job];

export function useJob(ns: string, name: string) {
  const client = useQueryClient();
  const key = jobKey(ns, name);
  const request = { path: { job: name }, query: { namespace: ns } };
  const job = useQuery({
    queryKey: [...key, "job"],
    queryFn: ({ signal }) => call("job_get", { ...request, signal }),
  });
  const triggers = useQuery({
    queryKey: [...key, "triggers"],
    queryFn: ({ signal }) => call("job_triggers", { ...request, signal }),
    refetchInterval: 60_000,
  });
  const id = job.data?.id;
  const reread = useMemo(
    () => throttled(() => void client.invalidateQueries({ queryKey: jobKey(ns, name) }), 2000),
    [client, ns, name],
  );
  useEffect(() => () => reread.cancel(), [reread]);
  useWatch(
    useCallback(
      (event: WatchEvent) => {
        if (event.kind === "reset" || (event.kind === "trigger_paused" && event.job === id)) reread();
      },
      [id, reread],
    ),
  );
  return { job, triggers };
}
