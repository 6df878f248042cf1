import { ActionIcon, Button, SegmentedControl } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { tokensRoute } from "@/app/router";
import { useIdentity, useMay } from "@/app/session";
import { RevokeToken } from "@/components/tokens/RevokeToken";
import { tokensKey } from "@/components/tokens/tokens";
import { type Column, DataTable } from "@/components/ui/DataTable";
import { fieldsNamed } from "@/components/ui/exports";
import { Face } from "@/components/ui/Face";
import { FilterField } from "@/components/ui/FilterField";
import { ListBody } from "@/components/ui/ListBody";
import { PageHeader } from "@/components/ui/PageHeader";
import { RelativeTime } from "@/components/ui/Time";
import type { Token } from "@/lib/api/schema";
import { filterByText, useList } from "@/lib/api/useList";
import { TokenDialog } from "./TokenDialog";
import "./admin.css";

const EXPORT = {
  name: "tokens",
  fields: fieldsNamed<Token>(
    "id",
    "name",
    "subject",
    "kind",
    "scopes",
    "created_at",
    "created_by",
    "expires_at",
  ),
};

/** API tokens: one's own, and everybody's for who may see them. Sessions are among the latter. */
export function TokensPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/admin/tokens" });
  const mayDo = useMay();
  const identity = useIdentity();
  const { q = "", all, do: open } = tokensRoute.useSearch();
  const mayAll = mayDo("token.list_all");
  const isAll = Boolean(all) && mayAll;
  const { query, rows, onEnd } = useList("token_list", tokensKey, { all: isAll || undefined });
  const [revoking, setRevoking] = useState<Token>();
  const listed = useMemo(() => (isAll ? rows : rows.filter((row) => row.kind !== "session")), [rows, isAll]);
  const shown = useMemo(
    () => filterByText(listed, q, (row) => `${row.name} ${row.subject} ${row.id} ${row.kind}`),
    [listed, q],
  );
  const columns = useMemo(
    () => columnsOf(t, identity?.token, isAll, setRevoking),
    [t, identity?.token, isAll],
  );
  const show = (next: "new" | undefined) => void navigate({ search: (before) => ({ ...before, do: next }) });
  usePageCommands([{ label: t("admin.token.new"), alias: "new token", run: () => show("new") }]);
  const setQuery = (next: string) =>
    void navigate({ search: (before) => ({ ...before, q: next || undefined }), replace: true });
  return (
    <div className="ms-page" data-fixed>
      <PageHeader
        title={t("nav.tokens")}
        note={
          <>
            {t("admin.token.sessions")} <Link to="/me">{t("person.page")}</Link>
          </>
        }
      >
        <Button variant="filled" onClick={() => show("new")}>
          {t("admin.token.new")}
        </Button>
      </PageHeader>
      <div className="ms-filters">
        <FilterField label={t("admin.token.find")} value={q} onChange={setQuery} />
        {mayAll && (
          <SegmentedControl
            aria-label={t("admin.token.whose")}
            data={[
              { value: "own", label: t("admin.token.own") },
              { value: "all", label: t("admin.token.all") },
            ]}
            value={isAll ? "all" : "own"}
            onChange={(value) =>
              void navigate({ search: (before) => ({ ...before, all: value === "all" ? true : undefined }) })
            }
          />
        )}
      </div>
      <ListBody
        query={query}
        loaded={listed.length}
        shown={shown.length}
        empty={
          <Face kind="empty" title={t("admin.token.none")} text={t("admin.token.none_text")}>
            <Button onClick={() => show("new")}>{t("admin.token.new")}</Button>
            <pre className="ms-code">mainspring token create ci --ttl 30d</pre>
          </Face>
        }
        noMatch={
          <Face kind="empty" title={t("admin.no_match", { q })}>
            <Button onClick={() => setQuery("")}>{t("admin.clear")}</Button>
          </Face>
        }
      >
        <DataTable
          label={t("nav.tokens")}
          columns={columns}
          rows={shown}
          idOf={(row) => row.id}
          onEnd={onEnd}
          isDimmed={query.isPlaceholderData}
          exportAs={EXPORT}
          hasMore={query.hasNextPage}
        />
      </ListBody>
      {open === "new" && <TokenDialog onClose={() => show(undefined)} />}
      {revoking && <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />}
    </div>
  );
}

function columnsOf(
  t: TFunction,
  own: string | undefined,
  isAll: boolean,
  onRevoke: (token: Token) => void,
): Column<Token>[] {
  const columns: Column<Token>[] = [
    {
      id: "name",
      label: t("admin.col.name"),
      width: "minmax(140px, 1.6fr)",
      phone: 1,
      cell: (row) => (
        <span title={row.name}>
          <strong>{row.kind === "session" ? t("admin.token.session") : row.name || "–"}</strong>
          {row.id === own && <span className="ms-label ms-after">{t("admin.token.this")}</span>}
        </span>
      ),
    },
    {
      id: "limits",
      label: t("admin.col.limits"),
      width: "minmax(140px, 1.6fr)",
      phone: 2,
      cell: (row) => {
        const limits = row.scopes.map(
          (scope) => `${scope.role} · ${scope.namespace ?? t("person.everywhere")}`,
        );
        return limits.length === 0 ? (
          t("admin.token.no_limits")
        ) : (
          <span title={limits.join(", ")}>{limits.join(", ")}</span>
        );
      },
    },
    {
      id: "created",
      label: t("admin.col.created"),
      width: "120px",
      cell: (row) => <RelativeTime at={row.created_at} />,
    },
    {
      id: "expires",
      label: t("admin.col.expires"),
      width: "120px",
      phone: 2,
      cell: (row) => (row.expires_at ? <RelativeTime at={row.expires_at} /> : t("admin.token.never")),
    },
    {
      id: "id",
      label: t("admin.col.id"),
      width: "minmax(120px, 1fr)",
      cell: (row) => <code title={row.id}>{row.id}</code>,
    },
    {
      id: "actions",
      label: "",
      width: "36px",
      phone: "end",
      cell: (row) => (
        <ActionIcon
          size={24}
          aria-label={t("admin.token.revoke_named", { name: row.name || row.id })}
          onClick={() => onRevoke(row)}
        >
          <IconTrash size={16} />
        </ActionIcon>
      ),
    },
  ];
  if (isAll)
    columns.splice(1, 0, {
      id: "subject",
      label: t("admin.col.subject"),
      width: "minmax(100px, 1fr)",
      phone: 1,
      cell: (row) => <span title={row.subject}>{row.subject}</span>,
    });
  return columns;
}
