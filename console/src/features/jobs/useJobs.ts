// What the Jobs page reads: three requests, whatever the number of jobs.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/lib/api/client";
import type { Job, JobTrigger } from "@/lib/api/schema";
import { byHour, byJob, type HourCount, healthOf, type JobHealth } from "@/lib/stats";
import { millis } from "@/lib/time/format";

const HOURS = 24;
const REFRESH_MS = 15_000;

export interface JobRow {
  job: Job;
  next: JobTrigger | undefined;
  triggers: number;
  hours: HourCount[];
  health: JobHealth;
}

export function useJobs(ns: string | undefined) {
  const jobs = useQuery({
    queryKey: ["jobs", ns ?? ""],
    queryFn: ({ signal }) => call("job_list", { query: { namespace: ns, limit: 1000 }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const triggers = useQuery({
    queryKey: ["triggers", ns ?? ""],
    queryFn: ({ signal }) => call("trigger_list", { query: { namespace: ns, limit: 1000 }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const stats = useQuery({
    queryKey: ["stats", ns ?? "", HOURS],
    queryFn: ({ signal }) =>
      call("stats", {
        query: { namespace: ns, from: new Date(Date.now() - HOURS * 3_600_000).toISOString() },
        signal,
      }),
    refetchInterval: REFRESH_MS,
  });
  const rows = useMemo(
    () =>
      joinRows(
        jobs.data?.items ?? [],
        triggers.data?.items ?? [],
        byJob(stats.data?.hours ?? []),
        Date.now(),
      ),
    [jobs.data, triggers.data, stats.data],
  );
  return { jobs, stats, rows };
}

export function joinRows(
  jobs: Job[],
  triggers: JobTrigger[],
  stats: ReturnType<typeof byJob>,
  now: number,
): JobRow[] {
  const ofJob = new Map<string, JobTrigger[]>();
  for (const trigger of triggers) ofJob.set(trigger.job, [...(ofJob.get(trigger.job) ?? []), trigger]);
  return jobs.map((job) => {
    const own = ofJob.get(job.id) ?? [];
    const due = own
      .filter((trigger) => trigger.next)
      .sort((a, b) => (millis(a.next) ?? 0) - (millis(b.next) ?? 0));
    const hours = stats.get(job.id) ?? [];
    return {
      job,
      triggers: own.length,
      next: due[0],
      hours: byHour(hours, HOURS, now),
      health: healthOf(hours),
    };
  });
}

/** Rows that a person looks for: by name, namespace; the failing ones first when asked. */
export function filterRows(rows: JobRow[], q: string): JobRow[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ job }) =>
    words.every((word) => `${job.namespace}/${job.name}`.toLowerCase().includes(word)),
  );
}
