// What the Overview reads. Parts that the role may not read are not asked for; a part that fails says so in its own place.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useMay } from "@/app/session";
import { call } from "@/lib/api/client";
import { byHour, byJob, HOUR_MS } from "@/lib/stats";
import { problemsOf } from "./attention";

const FAST_MS = 2000;
const SLOW_MS = 10_000;

export const WINDOWS = { "1h": 1, "6h": 6, "24h": 24, "7d": 168 } as const;
export type WindowName = keyof typeof WINDOWS;

export function useOverview(ns: string | undefined, window: WindowName) {
  const mayDo = useMay();
  const hours = WINDOWS[window];
  const stats = useQuery({
    queryKey: ["stats", ns ?? "", hours],
    queryFn: ({ signal }) =>
      call("stats", {
        query: { namespace: ns, from: new Date(Date.now() - hours * HOUR_MS).toISOString() },
        signal,
      }),
    refetchInterval: SLOW_MS,
  });
  const jobs = useQuery({
    queryKey: ["jobs", ns ?? ""],
    queryFn: ({ signal }) => call("job_list", { query: { namespace: ns, limit: 1000 }, signal }),
    refetchInterval: 6 * SLOW_MS,
  });
  const triggers = useQuery({
    queryKey: ["triggers", ns ?? ""],
    queryFn: ({ signal }) => call("trigger_list", { query: { namespace: ns, limit: 1000 }, signal }),
    refetchInterval: SLOW_MS,
  });
  const nodes = useQuery({
    queryKey: ["nodes", ""],
    queryFn: ({ signal }) => call("node_list", { query: { limit: 1000 }, signal }),
    refetchInterval: FAST_MS,
    enabled: mayDo("node.list"),
  });
  const doctor = useQuery({
    queryKey: ["doctor"],
    queryFn: ({ signal }) => call("doctor", { signal }),
    refetchInterval: SLOW_MS,
    enabled: mayDo("doctor"),
  });
  const cluster = useQuery({
    queryKey: ["cluster"],
    queryFn: ({ signal }) => call("cluster_get", { signal }),
    refetchInterval: FAST_MS,
    enabled: mayDo("cluster.get"),
  });
  const problems = useMemo(() => {
    const names = new Map(
      (jobs.data?.items ?? []).map((job) => [job.id, { name: job.name, namespace: job.namespace }]),
    );
    return problemsOf(
      byJob(stats.data?.hours ?? []),
      names,
      triggers.data?.items ?? [],
      nodes.data?.items ?? [],
      doctor.data,
    );
  }, [stats.data, jobs.data, triggers.data, nodes.data, doctor.data]);
  const series = useMemo(
    () => byHour(stats.data?.hours ?? [], Math.max(hours, 2), Date.now()),
    [stats.data, hours],
  );
  return { stats, jobs, triggers, nodes, doctor, cluster, problems, series };
}
