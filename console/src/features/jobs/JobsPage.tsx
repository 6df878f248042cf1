import { TextInput } from "@mantine/core";
import { IconPlayerPause, IconSearch } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { usePageCommands } from "@/app/pageCommands";
import { jobsRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { type Column, DataTable } from "@/components/ui/DataTable";
import { ErrorFace } from "@/components/ui/ErrorFace";
import type { ExportFields } from "@/components/ui/exports";
import { Face } from "@/components/ui/Face";
import { HealthStrip } from "@/components/ui/HealthStrip";
import { PageHeader } from "@/components/ui/PageHeader";
import { toneStyle } from "@/components/ui/StateBadge";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { RelativeTime } from "@/components/ui/Time";
import { duration } from "@/lib/time/format";
import { filterRows, type JobRow, useJobs } from "./useJobs";

export function JobsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/jobs" });
  const ns = useNamespace();
  const mayDo = useMay();
  const { q = "" } = jobsRoute.useSearch();
  const { jobs, stats, rows } = useJobs(ns);
  const shown = useMemo(() => filterRows(rows, q), [rows, q]);
  const columns = useMemo(() => columnsOf(t), [t]);
  usePageCommands([
    mayDo("job.put", ns) && {
      label: t("jobs.new"),
      alias: "new job",
      run: () => void navigate({ to: "/jobs/new", search: { ns } }),
    },
  ]);
  const setQuery = (next: string) =>
    void navigate({ search: (before) => ({ ...before, q: next || undefined }), replace: true });
  return (
    <div className="ms-page" data-fixed>
      <PageHeader
        title={t("nav.jobs")}
        note={rows.length > 0 && `${jobs.data?.next_cursor ? "≥ " : ""}${rows.length}`}
      >
        {mayDo("job.put", ns) && (
          <LinkButton variant="filled" to="/jobs/new" search={{ ns }}>
            {t("jobs.new")}
          </LinkButton>
        )}
      </PageHeader>
      <TextInput
        className="ms-filter"
        data-search-field
        aria-label={t("jobs.find")}
        placeholder={t("jobs.find")}
        value={q}
        leftSection={<IconSearch size={16} aria-hidden />}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
      {stats.data?.truncated && <p className="ms-muted">{t("jobs.truncated")}</p>}
      {jobs.isPending ? (
        <TableSkeleton />
      ) : jobs.error && rows.length === 0 ? (
        <ErrorFace error={jobs.error} onRetry={() => void jobs.refetch()} />
      ) : rows.length === 0 ? (
        <Face kind="empty" title={t("jobs.none")} text={t("jobs.none_text")}>
          <pre className="ms-code">mainspring apply job.yaml</pre>
        </Face>
      ) : shown.length === 0 ? (
        <Face kind="empty" title={t("jobs.no_match", { q })} />
      ) : (
        <DataTable
          label={t("nav.jobs")}
          columns={columns}
          rows={shown}
          idOf={(row) => row.job.id}
          exportAs={EXPORT}
          hasMore={Boolean(jobs.data?.next_cursor)}
          onOpen={({ job }) =>
            void navigate({ to: "/jobs/$job", params: { job: job.name }, search: { ns: job.namespace } })
          }
        />
      )}
    </div>
  );
}

const EXPORT: { name: string; fields: ExportFields<JobRow> } = {
  name: "jobs",
  fields: {
    name: ({ job }) => job.name,
    namespace: ({ job }) => job.namespace,
    version: ({ job }) => job.version,
    paused_by: ({ job }) => job.pause?.by,
    next: ({ next }) => next?.fires_at ?? next?.next,
    success_rate: ({ health }) => health.rate,
    failed: ({ health }) => health.failed,
    mean_ms: ({ health }) => health.meanMs,
    updated_at: ({ job }) => job.updated_at,
  },
};

function columnsOf(t: TFunction): Column<JobRow>[] {
  return [
    {
      id: "job",
      label: t("jobs.col.job"),
      width: "minmax(180px, 1.6fr)",
      phone: 1,
      cell: ({ job }) => (
        <>
          <Link to="/jobs/$job" params={{ job: job.name }} search={{ ns: job.namespace }}>
            {job.name}
          </Link>
          {job.pause && (
            <span className="ms-badge ms-paused" style={toneStyle("cancelled")} title={job.pause.note}>
              <IconPlayerPause size={12} aria-hidden /> {t("jobs.paused")}
            </span>
          )}
        </>
      ),
    },
    {
      id: "namespace",
      label: t("jobs.col.namespace"),
      width: "minmax(90px, 1fr)",
      phone: 2,
      cell: ({ job }) => job.namespace,
    },
    {
      id: "hours",
      label: t("jobs.col.hours"),
      width: "128px",
      phone: 1,
      cell: (row) => <HealthStrip hours={row.hours} />,
    },
    {
      id: "rate",
      label: t("jobs.col.rate"),
      width: "72px",
      align: "end",
      phone: 2,
      cell: ({ health }) => (health.rate === undefined ? "–" : `${Math.floor(health.rate * 100)} %`),
    },
    {
      id: "failed",
      label: t("jobs.col.failed"),
      width: "64px",
      align: "end",
      cell: ({ health }) => health.failed || "–",
    },
    {
      id: "mean",
      label: t("jobs.col.mean"),
      width: "88px",
      align: "end",
      cell: ({ health }) => duration(health.meanMs),
    },
    {
      id: "next",
      label: t("jobs.col.next"),
      width: "minmax(120px, 1fr)",
      phone: 2,
      cell: ({ next, triggers }) =>
        next ? <RelativeTime at={next.fires_at ?? next.next} /> : triggers ? t("jobs.on_event") : "–",
    },
    {
      id: "version",
      label: t("jobs.col.version"),
      width: "64px",
      align: "end",
      cell: ({ job }) => `v${job.version}`,
    },
    {
      id: "updated",
      label: t("jobs.col.updated"),
      width: "112px",
      cell: ({ job }) => <RelativeTime at={job.updated_at} />,
    },
  ];
}
