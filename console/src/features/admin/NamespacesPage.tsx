import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { namespacesRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { type Column, DataTable } from "@/components/ui/DataTable";
import { fieldsNamed } from "@/components/ui/exports";
import { Face } from "@/components/ui/Face";
import { FilterField } from "@/components/ui/FilterField";
import { ListBody } from "@/components/ui/ListBody";
import { PageHeader } from "@/components/ui/PageHeader";
import { RelativeTime } from "@/components/ui/Time";
import type { NamespaceInfo } from "@/lib/api/schema";
import { filterByText, useList } from "@/lib/api/useList";
import { DeleteNamespace, NamespaceDialog } from "./NamespaceDialogs";
import "./admin.css";

export const namespacesKey = ["namespaces", "list"];

const EXPORT = {
  name: "namespaces",
  fields: fieldsNamed<NamespaceInfo>("path", "description", "created_by", "created_at", "updated_at"),
};

type Verb = "describe" | "delete";

export function NamespacesPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/admin/namespaces" });
  const mayDo = useMay();
  const ns = useNamespace();
  const { q = "", do: open } = namespacesRoute.useSearch();
  const { query, rows, onEnd } = useList("namespace_list", namespacesKey, { namespace: ns });
  const [dialog, setDialog] = useState<{ verb: Verb; path: string }>();
  const shown = useMemo(
    () => filterByText(rows, q, (row) => `${row.path} ${row.description} ${row.created_by}`),
    [rows, q],
  );
  const columns = useMemo(
    () =>
      columnsOf(
        t,
        (path) => mayDo("namespace.put", path),
        (verb, path) => setDialog({ verb, path }),
      ),
    [t, mayDo],
  );
  const mayCreate = mayDo("namespace.put", ns);
  const show = (next: "new" | undefined) => void navigate({ search: (before) => ({ ...before, do: next }) });
  usePageCommands([
    mayCreate && { label: t("admin.ns.new"), alias: "new namespace", run: () => show("new") },
  ]);
  const target = rows.find((row) => row.path === dialog?.path);
  const setQuery = (next: string) =>
    void navigate({ search: (before) => ({ ...before, q: next || undefined }), replace: true });
  return (
    <div className="ms-page" data-fixed>
      <PageHeader title={t("nav.namespaces")}>
        {mayCreate && (
          <Button variant="filled" onClick={() => show("new")}>
            {t("admin.ns.new")}
          </Button>
        )}
      </PageHeader>
      <FilterField label={t("admin.ns.find")} value={q} onChange={setQuery} />
      <ListBody
        query={query}
        loaded={rows.length}
        shown={shown.length}
        empty={<Face kind="empty" title={t("admin.ns.none")} text={t("admin.ns.none_text")} />}
        noMatch={
          <Face kind="empty" title={t("admin.no_match", { q })}>
            <Button onClick={() => setQuery("")}>{t("admin.clear")}</Button>
          </Face>
        }
      >
        <DataTable
          label={t("nav.namespaces")}
          columns={columns}
          rows={shown}
          idOf={(row) => row.path}
          onOpen={(row) =>
            void navigate({ to: "/admin/namespaces/$namespace", params: { namespace: row.path } })
          }
          onEnd={onEnd}
          isDimmed={query.isPlaceholderData}
          exportAs={EXPORT}
          hasMore={query.hasNextPage}
        />
      </ListBody>
      {open === "new" && mayCreate && <NamespaceDialog parent={ns} onClose={() => show(undefined)} />}
      {target && dialog?.verb === "describe" && (
        <NamespaceDialog existing={target} onClose={() => setDialog(undefined)} />
      )}
      {target && dialog?.verb === "delete" && (
        <DeleteNamespace
          namespace={target}
          onDone={() => setDialog(undefined)}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  );
}

function columnsOf(
  t: TFunction,
  mayChange: (path: string) => boolean,
  onAct: (verb: Verb, path: string) => void,
): Column<NamespaceInfo>[] {
  return [
    {
      id: "path",
      label: t("admin.col.namespace"),
      width: "minmax(160px, 1.4fr)",
      phone: 1,
      cell: (row) => (
        <Link to="/admin/namespaces/$namespace" params={{ namespace: row.path }} title={row.path}>
          {row.path}
        </Link>
      ),
    },
    {
      id: "description",
      label: t("admin.col.description"),
      width: "minmax(160px, 2.4fr)",
      phone: 2,
      cell: (row) => <span title={row.description}>{row.description || "–"}</span>,
    },
    {
      id: "by",
      label: t("admin.col.created_by"),
      width: "minmax(90px, 0.8fr)",
      cell: (row) => row.created_by || "–",
    },
    {
      id: "updated",
      label: t("admin.col.updated"),
      width: "120px",
      cell: (row) => (row.revision > 0 ? <RelativeTime at={row.updated_at} /> : "–"),
    },
    {
      id: "actions",
      label: "",
      width: "36px",
      phone: "end",
      cell: (row) =>
        mayChange(row.path) && (
          <Menu>
            <Menu.Target>
              <ActionIcon size={24} aria-label={t("admin.actions", { name: row.path })}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => onAct("describe", row.path)}>{t("admin.ns.describe")}</Menu.Item>
              <Menu.Item color="red" onClick={() => onAct("delete", row.path)}>
                {t("admin.ns.delete")}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        ),
    },
  ];
}
