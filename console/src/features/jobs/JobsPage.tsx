import { SegmentedControl, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch, IconTag } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { usePageCommands } from "@/app/pageCommands";
import { jobsRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { DataTable } from "@/components/ui/DataTable";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { PageHeader } from "@/components/ui/PageHeader";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { JOBS_EXPORT, jobColumns } from "./jobColumns";
import { rowId, type TreeRow, treeRows } from "./tree";
import { useJobs } from "./useJobs";
import "./jobs.css";

const TYPING_MS = 200;

export function JobsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/jobs" });
  const ns = useNamespace();
  const mayDo = useMay();
  const { q = "", label = "", view } = jobsRoute.useSearch();
  const isFlat = view === "flat" || label !== "";
  const [asked] = useDebouncedValue(q, TYPING_MS);
  const [askedLabel] = useDebouncedValue(label, TYPING_MS);
  const { query, jobs } = useJobs({ ns, q: asked, label: askedLabel });
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(
    (): TreeRow[] => (isFlat ? jobs.map((job) => ({ kind: "job", job, depth: 0 })) : treeRows(jobs, folded)),
    [jobs, folded, isFlat],
  );
  const columns = useMemo(
    () =>
      jobColumns(t, {
        isFlat,
        onFold: (path) =>
          setFolded((before) => {
            const next = new Set(before);
            if (!next.delete(path)) next.add(path);
            return next;
          }),
        onRun: (run) => void navigate({ to: "/runs/$run", params: { run }, search: (at) => ({ ns: at.ns }) }),
        onLabel: (next) => void navigate({ search: (before) => ({ ...before, label: next }) }),
      }),
    [t, isFlat, navigate],
  );
  usePageCommands([
    mayDo("job.put", ns) && {
      label: t("jobs.new"),
      alias: "new job",
      run: () => void navigate({ to: "/jobs/new", search: { ns } }),
    },
  ]);
  const set = (next: { q?: string | undefined; label?: string | undefined; view?: "flat" | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const isFiltered = q !== "" || label !== "";
  return (
    <div className="ms-page" data-fixed>
      <PageHeader
        title={t("nav.jobs")}
        note={jobs.length > 0 && `${query.hasNextPage ? "≥ " : ""}${jobs.length}`}
      >
        {mayDo("job.put", ns) && (
          <LinkButton variant="filled" to="/jobs/new" search={{ ns }}>
            {t("jobs.new")}
          </LinkButton>
        )}
      </PageHeader>
      <div className="ms-jobs-bar">
        <TextInput
          className="ms-filter"
          data-search-field
          aria-label={t("jobs.find")}
          placeholder={t("jobs.find")}
          value={q}
          leftSection={<IconSearch size={16} aria-hidden />}
          onChange={(event) => set({ q: event.currentTarget.value || undefined })}
        />
        <TextInput
          className="ms-filter"
          aria-label={t("jobs.by_label")}
          placeholder="team=data"
          value={label}
          leftSection={<IconTag size={16} aria-hidden />}
          onChange={(event) => set({ label: event.currentTarget.value || undefined })}
        />
        <SegmentedControl
          aria-label={t("jobs.view.label")}
          value={isFlat ? "flat" : "tree"}
          disabled={label !== ""}
          data={[
            { value: "tree", label: t("jobs.view.tree") },
            { value: "flat", label: t("jobs.view.flat") },
          ]}
          onChange={(value) => set({ view: value === "flat" ? "flat" : undefined })}
        />
      </div>
      {query.isPending ? (
        <TableSkeleton />
      ) : query.error && (rows.length === 0 || query.isPlaceholderData) ? (
        <ErrorFace error={query.error} onRetry={() => void query.refetch()} />
      ) : rows.length > 0 ? (
        <DataTable
          label={t("nav.jobs")}
          columns={columns}
          rows={rows}
          idOf={rowId}
          exportAs={JOBS_EXPORT}
          hasMore={query.hasNextPage}
          isDimmed={query.isPlaceholderData}
          onEnd={
            query.hasNextPage ? () => void (!query.isFetchingNextPage && query.fetchNextPage()) : undefined
          }
          onOpen={(row) => {
            if (row.kind === "job")
              void navigate({
                to: "/jobs/$job",
                params: { job: row.job.name },
                search: { ns: row.job.namespace },
              });
          }}
        />
      ) : query.hasNextPage ? (
        <Face kind="empty" title={t("jobs.none_so_far")}>
          <button type="button" className="ms-new-runs" onClick={() => void query.fetchNextPage()}>
            {t("jobs.look_on")}
          </button>
        </Face>
      ) : isFiltered ? (
        <Face kind="empty" title={t("jobs.no_match", { q: [q, label].filter(Boolean).join(" ") })} />
      ) : (
        <Face kind="empty" title={t("jobs.none")} text={t("jobs.none_text")}>
          <pre className="ms-code">mainspring apply job.yaml</pre>
        </Face>
      )}
    </div>
  );
}
