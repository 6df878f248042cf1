import { Button } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { heatRoute } from "@/app/router";
import { SectionTabs } from "@/app/SectionTabs";
import { useNamespace } from "@/app/useNamespace";
import { CopyAs } from "@/components/ui/Copy";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { PageHeader } from "@/components/ui/PageHeader";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { call } from "@/lib/api/client";
import { apiCommand, cli } from "@/lib/commands";
import { absolute, millis } from "@/lib/time/format";
import { Crowds } from "./Crowds";
import { Groups } from "./Groups";
import { HourPanel } from "./HourPanel";
import { LoadMap } from "./LoadMap";
import { dayBegin, daysLater, daysOf, hoursOf } from "./load";
import { SpanBar } from "./SpanBar";
import "./calendar.css";

const REFRESH_MS = 30_000;
const DAYS = 7;

/** What is planned, by hour and day: where it is crowded, by whom, and how to spread it. */
export function CalendarPage() {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const ns = useNamespace();
  const navigate = useNavigate({ from: "/calendar" });
  const search = heatRoute.useSearch();
  const { pool, at } = search;
  const days = Math.min(31, Math.max(1, search.days ?? DAYS));
  const from = dayBegin(millis(search.from) ?? Date.now(), zone);
  const query = { namespace: ns, from: new Date(from).toISOString(), days };
  const load = useQuery({
    queryKey: ["load", query],
    queryFn: ({ signal }) => call("trigger_load", { query, signal }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  const report = load.data;
  const rows = useMemo(() => (report ? daysOf(hoursOf(report, pool), zone) : []), [report, pool, zone]);
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...next }) });
  const chosen = millis(at);
  const where = ns ? ["-n", ns] : ["-A"];
  return (
    <div className="ms-page">
      <SectionTabs />
      <PageHeader
        title={t("nav.calendar")}
        note={
          report && (
            <>
              {report.truncated && "≥ "}
              {t("calendar.firings", {
                count: report.firings,
                number: new Intl.NumberFormat(i18n.language).format(report.firings),
              })}{" "}
              · {t("calendar.triggers", { count: report.triggers })}
              {report.following > 0 && ` · ${t("calendar.following", { count: report.following })}`}
            </>
          )
        }
      >
        <SpanBar
          days={days}
          isNow={!search.from}
          onDays={(next) => change({ days: next === DAYS ? undefined : next, at: undefined })}
          onMove={(steps) =>
            change({
              from: steps === 0 ? undefined : new Date(daysLater(from, steps * days, zone)).toISOString(),
              at: undefined,
            })
          }
        />
        <CopyAs
          items={[
            {
              label: t("runs.copy_cli"),
              text: cli("simulate", ...where, "--days", String(days), "--zone", zone),
            },
            { label: t("runs.copy_http"), text: apiCommand("trigger_load", {}, query) },
          ]}
        />
      </PageHeader>
      {load.error && !report ? (
        <ErrorFace error={load.error} onRetry={() => void load.refetch()} />
      ) : !report ? (
        <TableSkeleton />
      ) : report.triggers === 0 ? (
        <Face kind="empty" title={t("calendar.none")} text={t("calendar.none_text")}>
          <pre className="ms-code">{"triggers:\n  - cron: '0 3 * * *'\n    zone: Europe/Berlin"}</pre>
        </Face>
      ) : (
        <>
          {report.truncated && (
            <p className="ms-muted">
              {t("calendar.truncated", { until: `${absolute(millis(report.until) ?? 0, zone)} ${zone}` })}
            </p>
          )}
          <div className="ms-load" data-dimmed={load.isPlaceholderData || undefined}>
            <div className="ms-stack">
              <LoadMap
                rows={rows}
                zone={zone}
                chosen={chosen}
                onPick={(hour) => change({ at: hour === chosen ? undefined : new Date(hour).toISOString() })}
              />
              {chosen !== undefined && (
                <HourPanel
                  at={chosen}
                  zone={zone}
                  report={report}
                  pool={pool}
                  onClose={() => change({ at: undefined })}
                />
              )}
              <Crowds report={report} zone={zone} />
            </div>
            <section className="ms-panel" aria-label={t("calendar.pools")}>
              <h2>{t("calendar.pools")}</h2>
              {pool && (
                <p className="ms-load-filter">
                  {t("calendar.only_pool", { pool })}{" "}
                  <Button onClick={() => change({ pool: undefined })}>{t("calendar.show_all")}</Button>
                </p>
              )}
              <Groups report={report} />
            </section>
          </div>
        </>
      )}
    </div>
  );
}
