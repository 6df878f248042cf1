import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { RUN_EXPORT, runColumns } from "@/components/runs/columns";
import { useRuns } from "@/components/runs/useRuns";
import { DataTable } from "@/components/ui/DataTable";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import type { Job, Run } from "@/lib/api/schema";

const runLink = (run: Run) => (
  <Link to="/runs/$run" params={{ run: run.id }} search={(before) => ({ ns: before.ns })} title={run.id}>
    …{run.id.slice(-6)}
  </Link>
);

export function JobRuns({ job }: { job: Job }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const navigate = useNavigate();
  const { query, rows, added, showNew } = useRuns(`job:${job.id}`, job.namespace);
  const columns = useMemo(() => {
    const all = runColumns(t, i18n.language, zone);
    const { job: name, ...rest } = all;
    return [
      { ...name, label: t("jobs.col.run"), width: "minmax(120px, 1fr)", cell: runLink },
      rest.state,
      rest.created,
      rest.took,
      rest.why,
      rest.node,
      rest.attempt,
      rest.by,
    ];
  }, [t, i18n.language, zone]);
  if (query.isPending) return <TableSkeleton />;
  if (query.error && rows.length === 0)
    return <ErrorFace error={query.error} onRetry={() => void query.refetch()} />;
  if (rows.length === 0) return <Face kind="empty" title={t("jobs.no_runs")} />;
  return (
    <>
      {added.length > 0 && (
        <button type="button" className="ms-new-runs" onClick={showNew}>
          {t("runs.new", { count: added.length })}
        </button>
      )}
      <DataTable
        label={t("nav.runs")}
        columns={columns}
        rows={rows}
        idOf={(run) => run.id}
        exportAs={RUN_EXPORT}
        hasMore={query.hasNextPage}
        onOpen={(run) =>
          void navigate({
            to: "/runs/$run",
            params: { run: run.id },
            search: (before) => ({ ns: before.ns }),
          })
        }
        onEnd={
          query.hasNextPage ? () => void (!query.isFetchingNextPage && query.fetchNextPage()) : undefined
        }
      />
    </>
  );
}
