import { IconChevronDown, IconChevronRight, IconPlayerPause } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import type { Column } from "@/components/ui/DataTable";
import type { ExportFields } from "@/components/ui/exports";
import { HealthStrip } from "@/components/ui/HealthStrip";
import { StateBadge, toneStyle } from "@/components/ui/StateBadge";
import { RelativeTime } from "@/components/ui/Time";
import type { ActiveRuns, Job, Percentiles } from "@/lib/api/schema";
import { labelTexts } from "@/lib/labels";
import { duration, UNKNOWN } from "@/lib/time/format";
import type { Branch, TreeRow } from "./tree";

const ofJobs = (value: (job: Job) => unknown) => (row: TreeRow) =>
  row.kind === "job" ? value(row.job) : undefined;

export const JOBS_EXPORT: { name: string; fields: ExportFields<TreeRow> } = {
  name: "jobs",
  fields: {
    name: ofJobs((job) => job.name),
    namespace: (row) => (row.kind === "job" ? row.job.namespace : row.path),
    version: ofJobs((job) => job.version),
    labels: ofJobs((job) => labelTexts(job.labels).join(" ")),
    paused_by: ofJobs((job) => job.pause?.by),
    next: ofJobs((job) => job.health?.next?.fires_at),
    success_rate: ofJobs((job) => job.health?.success_rate),
    running_ms_p50: ofJobs((job) => job.health?.running_ms?.p50),
    running_ms_p95: ofJobs((job) => job.health?.running_ms?.p95),
    queued_ms_p50: ofJobs((job) => job.health?.queued_ms?.p50),
    queued_ms_p95: ofJobs((job) => job.health?.queued_ms?.p95),
    updated_at: ofJobs((job) => job.updated_at),
  },
};

interface Actions {
  isFlat: boolean;
  onFold: (path: string) => void;
  onRun: (run: string) => void;
  onLabel: (label: string) => void;
}

export function jobColumns(t: TFunction, actions: Actions): Column<TreeRow>[] {
  const ofJob = (cell: (job: Job) => ReactNode) => (row: TreeRow) =>
    row.kind === "job" ? cell(row.job) : null;
  const columns: Column<TreeRow>[] = [
    {
      id: "job",
      label: t("jobs.col.job"),
      width: "minmax(200px, 1.8fr)",
      phone: 1,
      cell: (row) =>
        row.kind === "job" ? (
          <JobName t={t} job={row.job} depth={actions.isFlat ? 0 : row.depth} />
        ) : (
          <BranchName t={t} branch={row} onFold={actions.onFold} />
        ),
    },
    {
      id: "ends",
      label: t("jobs.col.ends"),
      width: "160px",
      phone: 2,
      cell: ofJob(({ health }) => <HealthStrip ends={health?.ends ?? []} onOpen={actions.onRun} />),
    },
    {
      id: "rate",
      label: t("jobs.col.rate"),
      width: "72px",
      align: "end",
      phone: 2,
      cell: ofJob(({ health }) =>
        health?.success_rate == null ? UNKNOWN : `${Math.floor(health.success_rate * 100)} %`,
      ),
    },
    {
      id: "run",
      label: t("jobs.col.run_time"),
      width: "132px",
      align: "end",
      cell: ofJob(({ health }) => <Spread t={t} values={health?.running_ms} />),
    },
    {
      id: "queue",
      label: t("jobs.col.queue_time"),
      width: "132px",
      align: "end",
      cell: ofJob(({ health }) => <Spread t={t} values={health?.queued_ms} />),
    },
    {
      id: "active",
      label: t("jobs.col.active"),
      width: "96px",
      align: "end",
      cell: ofJob(({ health }) => activeText(health?.active)),
    },
    {
      id: "next",
      label: t("jobs.col.next"),
      width: "minmax(96px, 0.8fr)",
      phone: 2,
      cell: ofJob((job) => nextOf(t, job)),
    },
    {
      id: "version",
      label: t("jobs.col.version"),
      width: "64px",
      align: "end",
      cell: ofJob((job) => `v${job.version}`),
    },
  ];
  if (!actions.isFlat) return columns;
  const [name, ...rest] = columns;
  const labels: Column<TreeRow> = {
    id: "labels",
    label: t("jobs.col.labels"),
    width: "minmax(120px, 1fr)",
    cell: ofJob((job) =>
      labelTexts(job.labels).map((label) => (
        <button type="button" className="ms-label" key={label} onClick={() => actions.onLabel(label)}>
          {label}
        </button>
      )),
    ),
  };
  const namespace: Column<TreeRow> = {
    id: "namespace",
    label: t("jobs.col.namespace"),
    width: "minmax(90px, 0.8fr)",
    phone: 2,
    cell: ofJob((job) => job.namespace),
  };
  return name ? [name, namespace, labels, ...rest] : columns;
}

function JobName({ t, job, depth }: { t: TFunction; job: Job; depth: number }) {
  return (
    <span className="ms-tree-cell" style={{ paddingInlineStart: depth * 20 }}>
      <Link to="/jobs/$job" params={{ job: job.name }} search={{ ns: job.namespace }}>
        {job.name}
      </Link>
      {job.pause && (
        <span className="ms-badge ms-paused" style={toneStyle("cancelled")} title={job.pause.note}>
          <IconPlayerPause size={12} aria-hidden /> {t("jobs.paused")}
        </span>
      )}
    </span>
  );
}

function BranchName({ t, branch, onFold }: { t: TFunction; branch: Branch; onFold: (path: string) => void }) {
  const Icon = branch.isOpen ? IconChevronDown : IconChevronRight;
  return (
    <span className="ms-tree-cell" style={{ paddingInlineStart: branch.depth * 20 }}>
      <button
        type="button"
        className="ms-fold"
        aria-expanded={branch.isOpen}
        title={branch.path}
        onClick={() => onFold(branch.path)}
      >
        <Icon size={14} aria-hidden />
        {branch.name}
      </button>
      <span className="ms-faint">{t("jobs.count", { count: branch.jobs })}</span>
      {!branch.isOpen && branch.worst && <StateBadge kind="run" state={branch.worst} />}
    </span>
  );
}

/** Median and 95th percentile of the newest ends. */
export function Spread({ t, values }: { t: TFunction; values: Percentiles | null | undefined }) {
  if (!values) return UNKNOWN;
  return (
    <span title={t("jobs.samples", { count: values.samples })}>
      {duration(values.p50)} / {duration(values.p95)}
    </span>
  );
}

function activeText(active: ActiveRuns | null | undefined) {
  if (!active) return UNKNOWN;
  if (!active.running && !active.waiting && !active.at_least) return "0";
  return `${active.running} / ${active.at_least ? "≥ " : ""}${active.waiting}`;
}

function nextOf(t: TFunction, job: Job) {
  const { next, triggers } = job.health ?? {};
  if (next) return <RelativeTime at={next.fires_at} />;
  return triggers && !job.pause ? t("jobs.on_event") : UNKNOWN;
}
