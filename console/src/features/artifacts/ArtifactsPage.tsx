import { Button, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { artifactsRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { DataTable } from "@/components/ui/DataTable";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { PageHeader } from "@/components/ui/PageHeader";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import type { ArtifactInfo } from "@/lib/api/schema";
import { ARTIFACT_EXPORT, artifactColumns } from "./artifactColumns";
import { DeleteArtifact } from "./DeleteArtifact";
import { UploadDialog } from "./UploadDialog";
import { filterArtifacts, useArtifacts } from "./useArtifacts";
import "./artifacts.css";

export function ArtifactsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/artifacts" });
  const mayDo = useMay();
  const ns = useNamespace();
  const { q = "", do: open } = artifactsRoute.useSearch();
  const { query, rows } = useArtifacts(ns);
  const [removing, setRemoving] = useState<ArtifactInfo>();
  const shown = useMemo(() => filterArtifacts(rows, q), [rows, q]);
  const columns = useMemo(
    () => artifactColumns(t, (row) => mayDo("artifact.delete", row.namespace), setRemoving),
    [t, mayDo],
  );
  const mayUpload = mayDo("artifact.put", ns);
  const show = (dialog: "upload" | undefined) =>
    void navigate({ search: (before) => ({ ...before, do: dialog }) });
  const setQuery = (next: string) =>
    void navigate({ search: (before) => ({ ...before, q: next || undefined }), replace: true });
  usePageCommands([
    mayUpload && { label: t("artifacts.upload"), alias: "upload artifact", run: () => show("upload") },
  ]);
  const uploadButton = mayUpload && (
    <Button variant="filled" onClick={() => show("upload")}>
      {t("artifacts.upload")}
    </Button>
  );
  return (
    <div className="ms-page" data-fixed>
      <PageHeader title={t("nav.artifacts")} note={t("artifacts.note")}>
        {uploadButton}
      </PageHeader>
      <TextInput
        className="ms-filter"
        data-search-field
        aria-label={t("artifacts.find")}
        placeholder={t("artifacts.find")}
        value={q}
        leftSection={<IconSearch size={16} aria-hidden />}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
      {query.isPending ? (
        <TableSkeleton />
      ) : query.error && rows.length === 0 ? (
        <ErrorFace error={query.error} onRetry={() => void query.refetch()} />
      ) : rows.length === 0 && !query.hasNextPage ? (
        <Face kind="empty" title={t("artifacts.none")} text={t("artifacts.none_text")}>
          {uploadButton}
          <pre className="ms-code">mainspring artifact push model.bin</pre>
        </Face>
      ) : shown.length === 0 && !query.hasNextPage ? (
        <Face kind="empty" title={t("artifacts.no_match", { q })}>
          <Button onClick={() => setQuery("")}>{t("artifacts.clear")}</Button>
        </Face>
      ) : (
        <DataTable
          label={t("nav.artifacts")}
          columns={columns}
          rows={shown}
          idOf={(row) => `${row.digest} ${row.namespace}`}
          onOpen={(row) =>
            void navigate({
              to: "/artifacts/$digest",
              params: { digest: row.digest },
              search: { ns: row.namespace },
            })
          }
          onEnd={
            query.hasNextPage ? () => void (!query.isFetchingNextPage && query.fetchNextPage()) : undefined
          }
          isDimmed={query.isPlaceholderData}
          exportAs={ARTIFACT_EXPORT}
          hasMore={query.hasNextPage}
        />
      )}
      {open === "upload" && mayUpload && <UploadDialog ns={ns} onClose={() => show(undefined)} />}
      {removing && (
        <DeleteArtifact
          artifact={removing}
          onDone={() => setRemoving(undefined)}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </div>
  );
}
