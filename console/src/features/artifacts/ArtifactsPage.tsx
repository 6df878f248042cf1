import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { artifactsRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { DataTable } from "@/components/ui/DataTable";
import { Face } from "@/components/ui/Face";
import { FilterField } from "@/components/ui/FilterField";
import { ListBody } from "@/components/ui/ListBody";
import { PageHeader } from "@/components/ui/PageHeader";
import type { ArtifactInfo } from "@/lib/api/schema";
import { filterByText, useList } from "@/lib/api/useList";
import { ARTIFACT_EXPORT, artifactColumns } from "./artifactColumns";
import { DeleteArtifact } from "./DeleteArtifact";
import { artifactsKey } from "./digest";
import { UploadDialog } from "./UploadDialog";
import "./artifacts.css";

export function ArtifactsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/artifacts" });
  const mayDo = useMay();
  const ns = useNamespace();
  const { q = "", do: open } = artifactsRoute.useSearch();
  const { query, rows, onEnd } = useList(
    "artifact_list",
    [...artifactsKey, "list"],
    { namespace: ns },
    { limit: 500 },
  );
  const [removing, setRemoving] = useState<ArtifactInfo>();
  const shown = useMemo(
    () =>
      filterByText(rows, q, (row) => `${row.name} ${row.digest} ${row.created_by} ${row.content_type ?? ""}`),
    [rows, q],
  );
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
      <FilterField label={t("artifacts.find")} value={q} onChange={setQuery} />
      <ListBody
        query={query}
        loaded={rows.length}
        shown={shown.length}
        empty={
          <Face kind="empty" title={t("artifacts.none")} text={t("artifacts.none_text")}>
            {uploadButton}
            <pre className="ms-code">mainspring artifact push model.bin</pre>
          </Face>
        }
        noMatch={
          <Face kind="empty" title={t("artifacts.no_match", { q })}>
            <Button onClick={() => setQuery("")}>{t("artifacts.clear")}</Button>
          </Face>
        }
      >
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
          onEnd={onEnd}
          isDimmed={query.isPlaceholderData}
          exportAs={ARTIFACT_EXPORT}
          hasMore={query.hasNextPage}
        />
      </ListBody>
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
