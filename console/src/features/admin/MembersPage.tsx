import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { membersRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { type Column, DataTable } from "@/components/ui/DataTable";
import { fieldsNamed } from "@/components/ui/exports";
import { Face } from "@/components/ui/Face";
import { FilterField } from "@/components/ui/FilterField";
import { ListBody } from "@/components/ui/ListBody";
import { PageHeader } from "@/components/ui/PageHeader";
import { RelativeTime } from "@/components/ui/Time";
import type { Member } from "@/lib/api/schema";
import { filterByText, useList } from "@/lib/api/useList";
import { MemberDialog, membersKey, RemoveMember } from "./MemberDialogs";
import { useAdminPlace } from "./useAdminPlace";
import "./admin.css";

const EXPORT = {
  name: "members",
  fields: fieldsNamed<Member>("subject", "role", "namespace", "granted_by", "granted_at"),
};

const idOf = (member: Member) => `${member.subject} ${member.namespace ?? ""}`;

/** Who has which role where. */
export function MembersPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/admin/members" });
  const mayDo = useMay();
  const { ns, isEverywhere } = useAdminPlace();
  const { q = "", do: open } = membersRoute.useSearch();
  const { query, rows, onEnd } = useList("member_list", membersKey, { namespace: ns });
  const [dialog, setDialog] = useState<{ verb: "change" | "remove"; id: string }>();
  const shown = useMemo(
    () =>
      filterByText(rows, q, (row) => `${row.subject} ${row.role} ${row.namespace ?? ""} ${row.granted_by}`),
    [rows, q],
  );
  const columns = useMemo(() => columnsOf(t, (verb, row) => setDialog({ verb, id: idOf(row) })), [t]);
  const mayAdd = mayDo("member.put", ns);
  const show = (next: "new" | undefined) => void navigate({ search: (before) => ({ ...before, do: next }) });
  usePageCommands([
    mayAdd && { label: t("admin.member.add"), alias: "add member role", run: () => show("new") },
  ]);
  const target = rows.find((row) => idOf(row) === dialog?.id);
  const setQuery = (next: string) =>
    void navigate({ search: (before) => ({ ...before, q: next || undefined }), replace: true });
  const close = () => setDialog(undefined);
  return (
    <div className="ms-page" data-fixed>
      <PageHeader title={t("nav.members")} note={ns ? t("admin.member.within", { ns }) : undefined}>
        {mayAdd && (
          <Button variant="filled" onClick={() => show("new")}>
            {t("admin.member.add")}
          </Button>
        )}
      </PageHeader>
      <FilterField label={t("admin.member.find")} value={q} onChange={setQuery} />
      <ListBody
        query={query}
        loaded={rows.length}
        shown={shown.length}
        empty={<Face kind="empty" title={t("admin.member.none")} text={t("admin.member.none_text")} />}
        noMatch={
          <Face kind="empty" title={t("admin.no_match", { q })}>
            <Button onClick={() => setQuery("")}>{t("admin.clear")}</Button>
          </Face>
        }
      >
        <DataTable
          label={t("nav.members")}
          columns={columns}
          rows={shown}
          idOf={idOf}
          onOpen={(row) => setDialog({ verb: "change", id: idOf(row) })}
          onEnd={onEnd}
          isDimmed={query.isPlaceholderData}
          exportAs={EXPORT}
          hasMore={query.hasNextPage}
        />
      </ListBody>
      {open === "new" && mayAdd && (
        <MemberDialog place={ns} mayEverywhere={isEverywhere} onClose={() => show(undefined)} />
      )}
      {target && dialog?.verb === "change" && (
        <MemberDialog
          existing={target}
          place={target.namespace ?? undefined}
          mayEverywhere={isEverywhere}
          onClose={close}
        />
      )}
      {target && dialog?.verb === "remove" && <RemoveMember member={target} onClose={close} />}
    </div>
  );
}

function columnsOf(
  t: TFunction,
  onAct: (verb: "change" | "remove", member: Member) => void,
): Column<Member>[] {
  return [
    {
      id: "subject",
      label: t("admin.col.subject"),
      width: "minmax(140px, 1.4fr)",
      phone: 1,
      cell: (row) => <strong title={row.subject}>{row.subject}</strong>,
    },
    {
      id: "role",
      label: t("role.label"),
      width: "100px",
      phone: 1,
      cell: (row) => <span className="ms-label">{row.role}</span>,
    },
    {
      id: "namespace",
      label: t("admin.col.namespace"),
      width: "minmax(120px, 1.4fr)",
      phone: 2,
      cell: (row) =>
        row.namespace ? (
          <Link to="/admin/namespaces/$namespace" params={{ namespace: row.namespace }}>
            {row.namespace}
          </Link>
        ) : (
          t("person.everywhere")
        ),
    },
    {
      id: "by",
      label: t("admin.col.granted_by"),
      width: "minmax(100px, 1fr)",
      cell: (row) => <span title={row.granted_by}>{row.granted_by}</span>,
    },
    {
      id: "at",
      label: t("admin.col.granted"),
      width: "120px",
      phone: 2,
      cell: (row) => <RelativeTime at={row.granted_at} />,
    },
    {
      id: "actions",
      label: "",
      width: "36px",
      phone: "end",
      cell: (row) => (
        <Menu>
          <Menu.Target>
            <ActionIcon size={24} aria-label={t("admin.actions", { name: row.subject })}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => onAct("change", row)}>{t("admin.member.change")}</Menu.Item>
            <Menu.Item color="red" onClick={() => onAct("remove", row)}>
              {t("admin.member.remove")}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ),
    },
  ];
}
