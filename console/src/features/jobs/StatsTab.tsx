import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { jobRoute } from "@/app/router";
import { EndsChart } from "@/components/ui/EndsChart";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { TimesChart } from "@/components/ui/TimesChart";
import { call } from "@/lib/api/client";
import type { Job, Percentiles } from "@/lib/api/schema";
import { type Step, stepsOf } from "@/lib/series";
import { duration, shortTime, UNKNOWN } from "@/lib/time/format";
import { jobKey } from "./useJob";

const HOUR_MS = 3_600_000;
const WINDOWS = {
  "24h": { hours: 24, step: "1h" },
  "7d": { hours: 168, step: "6h" },
  "30d": { hours: 720, step: "1d" },
} as const;
type WindowName = keyof typeof WINDOWS;

/** How the job's runs ended, and how long they waited and took. */
export function StatsTab({ job }: { job: Job }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/jobs/$job" });
  const { window: chosen } = jobRoute.useSearch();
  const value: WindowName = chosen && chosen in WINDOWS ? (chosen as WindowName) : "7d";
  const { hours, step } = WINDOWS[value];
  const { data, error, refetch } = useQuery({
    queryKey: [...jobKey(job.namespace, job.name), "series", value],
    queryFn: ({ signal }) =>
      call("stats_series", {
        query: {
          namespace: job.namespace,
          job: job.name,
          from: new Date(Date.now() - hours * HOUR_MS).toISOString(),
          step,
        },
        signal,
      }),
    refetchInterval: 30_000,
  });
  const steps = useMemo(() => (data ? stepsOf(data) : []), [data]);
  if (error && !data) return <ErrorFace error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  const open = ({ at, ms }: Step) => {
    const [from, until] = [at, at + ms].map((moment) => new Date(moment).toISOString());
    const q = `job:${job.name} state:ended created>=${from} created<${until}`;
    void navigate({ to: "/runs", search: { q, ns: job.namespace } });
  };
  return (
    <div className="ms-stats">
      <SegmentedControl
        aria-label={t("triggers.window.label")}
        value={value}
        data={Object.keys(WINDOWS).map((each) => ({
          value: each,
          label: t(`triggers.window.${each as WindowName}`),
        }))}
        onChange={(next) =>
          void navigate({
            search: (before) => ({ ...before, window: next === "7d" ? undefined : (next as "24h") }),
            replace: true,
          })
        }
      />
      {data.points.length === 0 ? (
        <Face kind="empty" title={t("jobs.stats.none")} />
      ) : (
        <>
          <section className="ms-panel" aria-label={t("jobs.stats.ended")}>
            <h2>{t("jobs.stats.ended")}</h2>
            <EndsChart steps={steps} onOpen={open} />
          </section>
          <section className="ms-panel" aria-label={t("jobs.stats.running")}>
            <h2>{t("jobs.stats.running")}</h2>
            <TimesChart steps={steps} of="running" label={t("jobs.stats.running")} />
          </section>
          <section className="ms-panel" aria-label={t("jobs.stats.queued")}>
            <h2>{t("jobs.stats.queued")}</h2>
            <TimesChart steps={steps} of="queued" label={t("jobs.stats.queued")} />
          </section>
          <p className="ms-muted">{t("jobs.stats.percentiles")}</p>
          <StepTable steps={steps} />
        </>
      )}
    </div>
  );
}

/** The same as numbers, the newest step first. */
function StepTable({ steps }: { steps: Step[] }) {
  const { t } = useTranslation();
  const zone = useZone();
  const now = Date.now();
  const ended = steps.filter((step) => step.success + step.final_failed + step.cancelled + step.skipped > 0);
  const spread = (values: Percentiles | null | undefined) =>
    values ? `${duration(values.p50)} / ${duration(values.p95)}` : UNKNOWN;
  return (
    <details className="ms-panel">
      <summary>{t("jobs.stats.numbers")}</summary>
      <div className="ms-stats-table">
        <table>
          <thead>
            <tr>
              <th scope="col">
                {t("jobs.stats.from")} <span className="ms-faint">{zone}</span>
              </th>
              <th scope="col">{t("state.success")}</th>
              <th scope="col">{t("state.final_failed")}</th>
              <th scope="col">{t("state.cancelled")}</th>
              <th scope="col">{t("state.skipped")}</th>
              <th scope="col">{t("jobs.col.run_time")}</th>
              <th scope="col">{t("jobs.stats.run_mean")}</th>
              <th scope="col">{t("jobs.col.queue_time")}</th>
              <th scope="col">{t("jobs.stats.queue_mean")}</th>
            </tr>
          </thead>
          <tbody>
            {ended.reverse().map((step) => (
              <tr key={step.at}>
                <th scope="row">{shortTime(step.at, now, zone)}</th>
                <td>{step.success}</td>
                <td>{step.final_failed}</td>
                <td>{step.cancelled}</td>
                <td>{step.skipped}</td>
                <td>{spread(step.running_ms)}</td>
                <td>{duration(step.running_ms_mean ?? undefined)}</td>
                <td>{spread(step.queued_ms)}</td>
                <td>{duration(step.queued_ms_mean ?? undefined)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
