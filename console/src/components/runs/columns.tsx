import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import type { Column } from "@/components/ui/DataTable";
import { fieldsNamed } from "@/components/ui/exports";
import { StateBadge } from "@/components/ui/StateBadge";
import { Elapsed, RelativeTime } from "@/components/ui/Time";
import type { Run } from "@/lib/api/schema";
import { isEnded } from "@/lib/state/run";
import { causeWords, reasonWords } from "@/lib/state/words";
import { millis, shortTime } from "@/lib/time/format";

export const COLUMNS = [
  "state",
  "job",
  "namespace",
  "created",
  "took",
  "why",
  "node",
  "attempt",
  "by",
] as const;
export type ColumnId = (typeof COLUMNS)[number];
export const DEFAULT_COLUMNS: ColumnId[] = [
  "state",
  "job",
  "namespace",
  "created",
  "took",
  "why",
  "node",
  "attempt",
];

export const RUN_EXPORT = {
  name: "runs",
  fields: fieldsNamed<Run>(
    "id",
    "namespace",
    "job_name",
    "job_version",
    "state",
    "attempt",
    "submitted_by",
    "trigger",
    "node_name",
    "created_at",
    "started_at",
    "finished_at",
  ),
};

/** The columns of the URL's `cols`; the default ones without it. */
export function chosen(cols: string | undefined): ColumnId[] {
  const wanted = cols?.split(",") ?? [];
  const known = COLUMNS.filter((column) => wanted.includes(column));
  return known.length > 0 ? known : DEFAULT_COLUMNS;
}

export function runColumns(t: TFunction, language: string, zone: string): Record<ColumnId, Column<Run>> {
  return {
    state: {
      id: "state",
      label: t("runs.col.state"),
      width: "128px",
      phone: 1,
      cell: (run) => <StateBadge kind="run" state={run.state} cancelling={isCancelling(run)} />,
    },
    job: {
      id: "job",
      label: t("runs.col.job"),
      width: "minmax(140px, 1.4fr)",
      phone: 1,
      cell: (run) => (
        <Link
          to="/runs/$run"
          params={{ run: run.id }}
          search={(before) => ({ ns: before.ns })}
          title={run.id}
        >
          {run.job_name ?? run.job}
        </Link>
      ),
    },
    namespace: {
      id: "namespace",
      label: t("runs.col.namespace"),
      width: "minmax(80px, 0.7fr)",
      cell: (run) => <span title={run.namespace}>{run.namespace}</span>,
    },
    created: {
      id: "created",
      label: t("runs.col.created"),
      width: "104px",
      phone: 2,
      cell: (run) => <RelativeTime at={run.created_at} />,
    },
    took: { id: "took", label: t("runs.col.took"), width: "84px", align: "end", phone: 2, cell: took },
    why: {
      id: "why",
      label: t("runs.col.why"),
      width: "minmax(160px, 2.4fr)",
      phone: 2,
      cell: (run) => whyCell(run, t, language, zone),
    },
    node: {
      id: "node",
      label: t("runs.col.node"),
      width: "minmax(72px, 0.6fr)",
      cell: (run) => <span title={run.node_name ?? ""}>{run.node_name ?? "–"}</span>,
    },
    attempt: {
      id: "attempt",
      label: t("runs.col.attempt"),
      width: "64px",
      align: "end",
      cell: (run) =>
        run.attempt === 0
          ? "–"
          : run.attempts_max
            ? t("runs.attempt_of", { n: run.attempt, max: run.attempts_max })
            : run.attempt,
    },
    by: {
      id: "by",
      label: t("runs.col.by"),
      width: "minmax(80px, 0.8fr)",
      cell: (run) => run.trigger ?? run.submitted_by,
    },
  };
}

const isCancelling = (run: Run) => Boolean(run.cancel_requested_by) && !isEnded(run.state);

function took(run: Run) {
  if (!run.started_at) return "–";
  if (run.state === "running") return <Elapsed from={run.started_at} />;
  return run.finished_at ? <Elapsed from={run.started_at} until={run.finished_at} /> : "–";
}

function whyCell(run: Run, t: TFunction, language: string, zone: string) {
  const words = whyText(run, t, language, zone);
  return words ? <span title={words}>{words}</span> : "";
}

function whyText(run: Run, t: TFunction, language: string, zone: string): string {
  const showTime = (at: string) => shortTime(millis(at) ?? 0, Date.now(), zone);
  if (run.state === "running") {
    const progress = run.progress;
    if (!progress) return "";
    return `${Math.round(progress.fraction * 100)} % ${progress.message}`;
  }
  if (run.state === "success") return "";
  const cause = run.cause ? causeWords(run.cause, language) : "";
  const reason =
    run.reason && !isEnded(run.state) ? reasonWords(run.reason, t, language, showTime).message : "";
  return [cause, reason].filter(Boolean).join(" · ");
}
