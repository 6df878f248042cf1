// What the Overview reads. Parts that the role may not read are not asked for; a part that fails says so in its own place.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useMay } from "@/app/session";
import { call } from "@/lib/api/client";
import { stepsOf } from "@/lib/series";
import { serverNow } from "@/lib/time/now";
import { problemsOf } from "./attention";

/** Events say what changed; this often it is read anyway, for what comes without events (load, silence, the clock). */
const CALM_MS = 30_000;
const HOUR_MS = 3_600_000;
/** Missed moments that are named. */
const MISSED_MAX = 3;

export const WINDOWS = { "1h": 1, "6h": 6, "24h": 24, "7d": 168 } as const;
export type WindowName = keyof typeof WINDOWS;

export function useOverview(ns: string | undefined, window: WindowName) {
  const mayDo = useMay();
  const hours = WINDOWS[window];
  const series = useQuery({
    queryKey: ["series", ns ?? "", window],
    queryFn: ({ signal }) =>
      call("stats_series", {
        query: {
          namespace: ns,
          from: new Date(serverNow() - hours * HOUR_MS).toISOString(),
          step: hours > 24 ? "6h" : "1h",
          by: "job",
        },
        signal,
      }),
    refetchInterval: CALM_MS,
  });
  // Whether there is anything at all: asked only when nothing ended.
  const jobs = useQuery({
    queryKey: ["jobs", ns ?? "", "any"],
    queryFn: ({ signal }) => call("job_list", { query: { namespace: ns, limit: 1 }, signal }),
    refetchInterval: CALM_MS,
    enabled: series.data?.total.attempts === 0,
  });
  const today = useQuery({
    queryKey: ["occurrences", ns ?? "", "today"],
    queryFn: ({ signal }) =>
      call("occurrence_count", { query: { namespace: ns, from: startOfToday() }, signal }),
    refetchInterval: CALM_MS,
  });
  const missed = useQuery({
    queryKey: ["occurrences", ns ?? "", "missed"],
    queryFn: ({ signal }) =>
      call("occurrence_list", {
        query: { namespace: ns, from: startOfToday(), outcome: "missed", limit: MISSED_MAX },
        signal,
      }),
    refetchInterval: CALM_MS,
    enabled: (today.data?.missed ?? 0) > 0,
  });
  const triggers = useQuery({
    queryKey: ["triggers", ns ?? ""],
    queryFn: ({ signal }) => call("trigger_list", { query: { namespace: ns, limit: 1000 }, signal }),
    refetchInterval: CALM_MS,
  });
  const nodes = useQuery({
    queryKey: ["nodes", ""],
    queryFn: ({ signal }) => call("node_list", { query: { limit: 1000 }, signal }),
    refetchInterval: CALM_MS,
    enabled: mayDo("node.list"),
  });
  const doctor = useQuery({
    queryKey: ["doctor"],
    queryFn: ({ signal }) => call("doctor", { signal }),
    refetchInterval: CALM_MS,
    enabled: mayDo("doctor"),
  });
  const cluster = useQuery({
    queryKey: ["cluster"],
    queryFn: ({ signal }) => call("cluster_get", { signal }),
    refetchInterval: CALM_MS,
    enabled: mayDo("cluster.get"),
  });
  const problems = useMemo(
    () =>
      problemsOf({
        groups: series.data?.groups ?? [],
        triggers: triggers.data?.items ?? [],
        nodes: nodes.data?.items ?? [],
        doctor: doctor.data,
        late: today.data?.late ?? 0,
        missed: today.data?.missed ? (missed.data?.items ?? []) : [],
      }),
    [series.data, triggers.data, nodes.data, doctor.data, today.data, missed.data],
  );
  const steps = useMemo(() => (series.data ? stepsOf(series.data) : []), [series.data]);
  return { series, jobs, triggers, nodes, doctor, cluster, today, problems, steps };
}

const startOfToday = () => new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
