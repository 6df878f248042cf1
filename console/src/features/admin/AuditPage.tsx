import { Button, Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { auditRoute } from "@/app/router";
import { CopyAs } from "@/components/ui/Copy";
import { type Column, DataTable } from "@/components/ui/DataTable";
import { fieldsNamed } from "@/components/ui/exports";
import { Face } from "@/components/ui/Face";
import { ListBody } from "@/components/ui/ListBody";
import { PageHeader } from "@/components/ui/PageHeader";
import { toneStyle } from "@/components/ui/StateBadge";
import { ZonedTime } from "@/components/ui/Time";
import type { AuditEntry } from "@/lib/api/schema";
import { useList } from "@/lib/api/useList";
import { apiCommand } from "@/lib/commands";
import { absolute, millis } from "@/lib/time/format";
import { AuditFilters } from "./AuditFilters";
import { ChainNote } from "./ChainNote";
import { useAdminPlace } from "./useAdminPlace";
import "./admin.css";

const EXPORT = {
  name: "audit",
  fields: fieldsNamed<AuditEntry>(
    "at",
    "actor",
    "operation",
    "target",
    "namespace",
    "outcome",
    "code",
    "detail",
    "from",
    "token",
    "request_id",
  ),
};

/** Who did what, newest first, and whether the record is whole. */
export function AuditPage() {
  const { t } = useTranslation();
  const zone = useZone();
  const navigate = useNavigate({ from: "/admin/audit" });
  const { ns } = useAdminPlace();
  const { actor, operation, target, from, until } = auditRoute.useSearch();
  const filter = { namespace: ns, actor, operation, target, from, until };
  const { query, rows, onEnd } = useList("audit_list", ["audit"], filter, { limit: 100, refreshMs: 10_000 });
  const [opened, setOpened] = useState<AuditEntry>();
  const columns = useMemo(() => columnsOf(t, zone), [t, zone]);
  const isFiltered = Boolean(actor || operation || target || from || until);
  const clear = () =>
    void navigate({
      search: (before) => ({
        ns: before.ns,
      }),
    });
  // The server looks at a bounded number of records for one page: a page without rows is not the end.
  const isSearching = rows.length === 0 && query.hasNextPage;
  return (
    <div className="ms-page" data-fixed>
      <PageHeader title={t("nav.audit")} note={ns}>
        <CopyAs items={[{ label: t("runs.copy_http"), text: apiCommand("audit_list", {}, filter) }]} />
      </PageHeader>
      <ChainNote />
      <AuditFilters
        filter={{ actor, operation, target, from, until }}
        onChange={(change) =>
          void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
        }
      />
      {isSearching ? (
        <Face kind="empty" title={t("admin.audit.nothing_yet")}>
          <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t("admin.audit.go_on")}
          </Button>
          <Button variant="subtle" onClick={clear}>
            {t("admin.clear")}
          </Button>
        </Face>
      ) : (
        <ListBody
          query={query}
          loaded={rows.length}
          shown={rows.length}
          empty={
            <Face kind="empty" title={isFiltered ? t("admin.audit.no_match") : t("admin.audit.none")}>
              {isFiltered && <Button onClick={clear}>{t("admin.clear")}</Button>}
            </Face>
          }
          noMatch={null}
        >
          <DataTable
            label={t("nav.audit")}
            columns={columns}
            rows={rows}
            idOf={(row) => `${row.at} ${row.request_id ?? ""} ${row.operation} ${row.target ?? ""}`}
            onOpen={setOpened}
            onEnd={onEnd}
            isDimmed={query.isPlaceholderData}
            exportAs={EXPORT}
            hasMore={query.hasNextPage}
          />
        </ListBody>
      )}
      {opened && <EntryDialog entry={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

const isOutcome = (entry: AuditEntry) =>
  entry.outcome === "denied" ? "denied" : entry.code ? "failed" : "allowed";
const TONES = { denied: "final_failed", failed: "failed", allowed: "success" } as const;

function Outcome({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  const outcome = isOutcome(entry);
  return (
    <span
      className="ms-badge ms-badge-plain"
      style={toneStyle(TONES[outcome])}
      title={entry.code ?? undefined}
    >
      {t(`admin.audit.${outcome}`)}
    </span>
  );
}

function columnsOf(t: TFunction, zone: string): Column<AuditEntry>[] {
  return [
    {
      id: "at",
      label: `${t("admin.col.at")} (${zone})`,
      width: "164px",
      phone: 2,
      cell: (row) => <time dateTime={row.at}>{absolute(millis(row.at) ?? 0, zone)}</time>,
    },
    {
      id: "actor",
      label: t("admin.col.actor"),
      width: "minmax(100px, 1fr)",
      phone: 1,
      cell: (row) => <span title={row.actor}>{row.actor}</span>,
    },
    {
      id: "operation",
      label: t("admin.col.operation"),
      width: "minmax(120px, 1fr)",
      phone: 1,
      cell: (row) => <code>{row.operation}</code>,
    },
    {
      id: "target",
      label: t("admin.col.target"),
      width: "minmax(140px, 1.6fr)",
      phone: 2,
      cell: (row) => <span title={row.target ?? ""}>{row.target ?? "–"}</span>,
    },
    {
      id: "namespace",
      label: t("admin.col.namespace"),
      width: "minmax(90px, 0.8fr)",
      cell: (row) => <span title={row.namespace ?? ""}>{row.namespace ?? "–"}</span>,
    },
    {
      id: "outcome",
      label: t("admin.col.outcome"),
      width: "100px",
      phone: 1,
      cell: (row) => <Outcome entry={row} />,
    },
    {
      id: "detail",
      label: t("admin.col.detail"),
      width: "minmax(120px, 1.6fr)",
      cell: (row) => <span title={row.detail ?? row.code ?? ""}>{row.detail ?? row.code ?? "–"}</span>,
    },
  ];
}

function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { t } = useTranslation();
  const facts = [
    [t("admin.col.actor"), entry.actor],
    [t("admin.col.target"), entry.target],
    [t("admin.col.namespace"), entry.namespace],
    [t("admin.col.detail"), entry.detail],
    [t("admin.audit.code"), entry.code],
    [t("admin.audit.token"), entry.token],
    [t("admin.audit.from_address"), entry.from],
    [t("admin.audit.request"), entry.request_id],
  ] as const;
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={entry.operation}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <dl className="ms-facts">
        <dt>{t("admin.col.at")}</dt>
        <dd>
          <ZonedTime at={entry.at} /> <Outcome entry={entry} />
        </dd>
        {facts.map(([label, value]) => (
          <div className="ms-fact" key={label}>
            <dt>{label}</dt>
            <dd>{value ?? "–"}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
