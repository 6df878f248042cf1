import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageKeys } from "@/app/keys";
import { useZone } from "@/app/preferences";
import { runsRoute } from "@/app/router";
import { useNamespace } from "@/app/useNamespace";
import { chosen, DEFAULT_COLUMNS, RUN_EXPORT, runColumns } from "@/components/runs/columns";
import { useRuns } from "@/components/runs/useRuns";
import { DataTable } from "@/components/ui/DataTable";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { ApiError } from "@/lib/api/client";
import { apiCommand, cliRuns } from "@/lib/commands";
import { millis, shortTime } from "@/lib/time/format";
import { BulkBar } from "./BulkBar";
import { BulkDialog, type BulkTarget } from "./BulkDialog";
import { BulkProgress } from "./BulkProgress";
import { QueryBar } from "./QueryBar";
import { RunsToolbar } from "./RunsToolbar";
import { useSelection } from "./useSelection";
import { ViewsBar } from "./ViewsBar";
import "./runs.css";

/** A page with fewer runs than this was cut by the budget of a search. */
const FEW = 20;

export function RunsPage() {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const navigate = useNavigate({ from: "/runs" });
  const ns = useNamespace();
  const { q = "", cols, operation } = runsRoute.useSearch();
  const { query, rows, added, showNew, isFull } = useRuns(q, ns);
  const selection = useSelection(rows, q);
  const [bulk, setBulk] = useState<BulkTarget>();
  const columns = useMemo(() => {
    const all = runColumns(t, i18n.language, zone);
    return chosen(cols).map((id) => all[id]);
  }, [t, i18n.language, zone, cols]);
  usePageKeys(useMemo(() => ({ Escape: selection.clear }), [selection.clear]));

  const setQuery = (next: string) =>
    void navigate({ search: (before) => ({ ...before, q: next || undefined }) });
  const problem =
    query.error instanceof ApiError && query.error.code === "invalid_query" ? query.error : undefined;
  const more =
    query.hasNextPage && !isFull
      ? () => void (!query.isFetchingNextPage && query.fetchNextPage())
      : undefined;
  const last = query.data?.pages.at(-1);
  // Few passed: what was looked through is told, not only what was found.
  const searchedTo = last && last.items.length < FEW ? last.searched_to : undefined;
  const footer = isFull
    ? t("runs.full")
    : query.hasNextPage
      ? searchedTo
        ? t("runs.searched_to", { at: shortTime(millis(searchedTo) ?? 0, Date.now(), zone) })
        : t("runs.loading_more")
      : rows.length > 20 && t("runs.end");

  return (
    <div className="ms-page" data-fixed>
      <RunsToolbar
        q={problem ? "" : q}
        ns={ns}
        columns={chosen(cols)}
        onColumns={(next) =>
          void navigate({
            search: (before) => ({
              ...before,
              cols: String(next) === String(DEFAULT_COLUMNS) ? undefined : next.join(","),
            }),
          })
        }
        cli={cliRuns(q, ns)}
        http={apiCommand("run_list", {}, { q, namespace: ns })}
      />
      <QueryBar value={q} problem={problem?.detail} onChange={setQuery} />
      <ViewsBar q={q} onQuery={setQuery}>
        {added.length > 0 && (
          <button type="button" className="ms-pill" onClick={showNew}>
            {t("runs.new", { count: added.length })}
          </button>
        )}
      </ViewsBar>
      {query.isPending ? (
        <TableSkeleton />
      ) : query.error && rows.length === 0 ? (
        problem ? null : (
          <ErrorFace error={query.error} onRetry={() => void query.refetch()} />
        )
      ) : rows.length === 0 && !query.hasNextPage ? (
        <Nothing q={q} onClear={() => setQuery("")} />
      ) : (
        <DataTable
          label={t("nav.runs")}
          columns={columns}
          rows={rows}
          idOf={(run) => run.id}
          onOpen={(run) => void navigate({ to: "/runs/$run", params: { run: run.id }, search: { ns } })}
          selection={selection.table(t("runs.select_all"))}
          onEnd={more}
          footer={footer}
          isDimmed={query.isPlaceholderData}
          exportAs={RUN_EXPORT}
          hasMore={query.hasNextPage}
        />
      )}
      <BulkBar rows={selection.rows} q={q} ns={ns} onClear={selection.clear} onAct={setBulk} />
      {bulk && (
        <BulkDialog
          {...bulk}
          q={q}
          ns={ns}
          onStarted={(operation) => {
            setBulk(undefined);
            selection.clear();
            void navigate({ search: (before) => ({ ...before, operation }) });
          }}
          onClose={() => setBulk(undefined)}
        />
      )}
      {operation && (
        <BulkProgress
          id={operation}
          onClose={() => void navigate({ search: (before) => ({ ...before, operation: undefined }) })}
        />
      )}
    </div>
  );
}

function Nothing({ q, onClear }: { q: string; onClear: () => void }) {
  const { t } = useTranslation();
  if (q) {
    return (
      <Face kind="empty" title={t("runs.no_match", { q })}>
        <Button onClick={onClear}>{t("runs.clear_query")}</Button>
      </Face>
    );
  }
  return (
    <Face kind="empty" title={t("runs.none")} text={t("runs.none_text")}>
      <pre className="ms-code">mainspring submit --wait -- echo hello</pre>
    </Face>
  );
}
