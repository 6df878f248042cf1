import { Link, useNavigate } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { usePageCommands } from "@/app/pageCommands";
import { calendarsRoute } from "@/app/router";
import { SectionTabs } from "@/app/SectionTabs";
import { useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { type Column, DataTable } from "@/components/ui/DataTable";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { fieldsNamed } from "@/components/ui/exports";
import { Face } from "@/components/ui/Face";
import { PageHeader } from "@/components/ui/PageHeader";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { RelativeTime } from "@/components/ui/Time";
import type { Calendar } from "@/lib/api/schema";
import { CalendarEditor } from "./CalendarEditor";
import { WEEKDAYS } from "./calendar";
import { useCalendars } from "./useCalendars";

/** All calendars of a namespace and below; `do=new` makes one. */
const EXPORT = {
  name: "calendars",
  fields: fieldsNamed<Calendar>("name", "namespace", "spec", "updated_by", "updated_at"),
};

export function CalendarsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/calendars" });
  const mayDo = useMay();
  const ns = useNamespace();
  const { do: open } = calendarsRoute.useSearch();
  const calendars = useCalendars(ns);
  const columns = useMemo(() => columnsOf(t), [t]);
  const mayPut = mayDo("calendar.put", ns);
  const isNew = open === "new" && mayPut;
  const showNew = () => void navigate({ search: (before) => ({ ...before, do: "new" }) });
  usePageCommands([mayPut && !isNew && { label: t("calendars.new"), alias: "new calendar", run: showNew }]);
  if (isNew) return <CalendarEditor ns={ns ?? "default"} calendar={undefined} />;
  const rows = calendars.data?.items ?? [];
  return (
    <div className="ms-page" data-fixed>
      <SectionTabs />
      <PageHeader
        title={t("nav.calendars")}
        note={rows.length > 0 && `${calendars.data?.next_cursor ? "≥ " : ""}${rows.length}`}
      >
        {mayPut && (
          <LinkButton variant="filled" to="/calendars" search={{ ns, do: "new" }}>
            {t("calendars.new")}
          </LinkButton>
        )}
      </PageHeader>
      <p className="ms-muted">{t("calendars.what")}</p>
      {calendars.isPending ? (
        <TableSkeleton />
      ) : calendars.error && rows.length === 0 ? (
        <ErrorFace error={calendars.error} onRetry={() => void calendars.refetch()} />
      ) : rows.length === 0 ? (
        <Face kind="empty" title={t("calendars.none")} text={t("calendars.none_text")}>
          <pre className="ms-code">mainspring calendar set holidays --weekend sat,sun --off 12-25</pre>
        </Face>
      ) : (
        <DataTable
          label={t("nav.calendars")}
          columns={columns}
          rows={rows}
          idOf={(row) => `${row.namespace} ${row.name}`}
          exportAs={EXPORT}
          onOpen={(row) =>
            void navigate({
              to: "/calendars/$calendar",
              params: { calendar: row.name },
              search: { ns: row.namespace },
            })
          }
        />
      )}
    </div>
  );
}

function columnsOf(t: TFunction): Column<Calendar>[] {
  return [
    {
      id: "name",
      label: t("calendars.col.name"),
      width: "minmax(140px, 1fr)",
      phone: 1,
      cell: ({ name, namespace }) => (
        <Link to="/calendars/$calendar" params={{ calendar: name }} search={{ ns: namespace }}>
          {name}
        </Link>
      ),
    },
    {
      id: "namespace",
      label: t("calendars.col.namespace"),
      width: "minmax(90px, 1fr)",
      phone: 1,
      cell: ({ namespace }) => <span className="ms-muted">{namespace}</span>,
    },
    {
      id: "says",
      label: t("calendars.col.says"),
      width: "minmax(200px, 2fr)",
      phone: 2,
      cell: ({ spec }) =>
        [
          WEEKDAYS.filter((day) => spec.weekend?.includes(day))
            .map((day) => t(`calendars.weekday.${day}`))
            .join(" "),
          spec.off?.length && t("calendars.off_count", { count: spec.off.length }),
          spec.working?.length && t("calendars.working_count", { count: spec.working.length }),
          spec.blackouts?.join(" "),
        ]
          .filter(Boolean)
          .join(" · ") || "–",
    },
    {
      id: "description",
      label: t("calendars.description"),
      width: "minmax(160px, 2fr)",
      cell: ({ spec }) => <span title={spec.description}>{spec.description || "–"}</span>,
    },
    {
      id: "updated",
      label: t("calendars.col.updated"),
      width: "minmax(140px, 1fr)",
      cell: (calendar) => (
        <>
          <RelativeTime at={calendar.updated_at} /> <span className="ms-muted">{calendar.updated_by}</span>
        </>
      ),
    },
  ];
}
