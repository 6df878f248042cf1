import { Button, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { nodesRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { DataTable } from "@/components/ui/DataTable";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { PageHeader } from "@/components/ui/PageHeader";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { InviteDialog } from "./InviteDialog";
import { NodeDialog, type NodeVerb } from "./NodeDialog";
import { NODE_EXPORT, nodeColumns } from "./nodeColumns";
import { PoolsBar } from "./PoolsBar";
import { filterNodes, sortNodes, useNodes } from "./useNodes";
import "./nodes.css";

export function NodesPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/nodes" });
  const mayDo = useMay();
  const { pool, q = "", do: doing } = nodesRoute.useSearch();
  const { nodes, pools, loads, isFull } = useNodes(pool);
  const invite = doing === "invite" && mayDo("node.invite");
  const setInvite = (open: boolean) =>
    void navigate({ search: (before) => ({ ...before, do: open ? "invite" : undefined }), replace: true });
  const [dialog, setDialog] = useState<{ verb: NodeVerb; node: string }>();
  const rows = useMemo(() => filterNodes(sortNodes(nodes.data?.items ?? []), q), [nodes.data, q]);
  const columns = useMemo(
    () =>
      nodeColumns(t, mayDo("node.drain"), (verb, node) => setDialog({ verb, node: node.id }), loads, isFull),
    [t, mayDo, loads, isFull],
  );
  usePageCommands([
    mayDo("node.invite") && {
      label: t("nodes.invite"),
      alias: "invite a node",
      run: () => setInvite(true),
    },
  ]);
  const node = nodes.data?.items.find((each) => each.id === dialog?.node);
  return (
    <div className="ms-page" data-fixed>
      <PageHeader
        title={t("nav.nodes")}
        note={nodes.data && `${nodes.data.next_cursor ? "≥ " : ""}${nodes.data.items.length}`}
      >
        {mayDo("node.invite") && (
          <Button variant="filled" onClick={() => setInvite(true)}>
            {t("nodes.invite")}
          </Button>
        )}
      </PageHeader>
      {pools.data && (
        <PoolsBar
          pools={pools.data.items}
          chosen={pool}
          onChoose={(name) => void navigate({ search: (before) => ({ ...before, pool: name }) })}
        />
      )}
      <TextInput
        className="ms-filter"
        data-search-field
        aria-label={t("nodes.find")}
        placeholder={t("nodes.find")}
        value={q}
        leftSection={<IconSearch size={16} aria-hidden />}
        onChange={(event) => {
          const next = event.currentTarget.value;
          void navigate({ search: (before) => ({ ...before, q: next || undefined }), replace: true });
        }}
      />
      {nodes.isPending ? (
        <TableSkeleton />
      ) : nodes.error && !nodes.data ? (
        <ErrorFace error={nodes.error} onRetry={() => void nodes.refetch()} />
      ) : nodes.data?.items.length === 0 ? (
        <Face kind="empty" title={t("nodes.none")} text={t("nodes.none_text")}>
          {mayDo("node.invite") && <Button onClick={() => setInvite(true)}>{t("nodes.invite")}</Button>}
        </Face>
      ) : rows.length === 0 ? (
        <Face kind="empty" title={t("nodes.no_match", { q })} />
      ) : (
        <DataTable
          label={t("nav.nodes")}
          columns={columns}
          rows={rows}
          idOf={(each) => each.id}
          exportAs={NODE_EXPORT}
          hasMore={Boolean(nodes.data?.next_cursor)}
          onOpen={(each) => void navigate({ to: "/runs", search: { q: `node:${each.id} state:running` } })}
        />
      )}
      {invite && (
        <InviteDialog
          pools={pools.data?.items.map((each) => each.name) ?? []}
          onClose={() => setInvite(false)}
        />
      )}
      {dialog && node && <NodeDialog verb={dialog.verb} node={node} onClose={() => setDialog(undefined)} />}
    </div>
  );
}
