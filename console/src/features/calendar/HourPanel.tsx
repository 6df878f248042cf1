import { ActionIcon } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useNamespace } from "@/app/useNamespace";
import { inWords } from "@/components/triggers/triggers";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { call } from "@/lib/api/client";
import type { LoadReport } from "@/lib/api/schema";
import { absolute, clock, duration, millis } from "@/lib/time/format";

const HOUR_MS = 3_600_000;

interface HourPanelProps {
  at: number;
  zone: string;
  report: LoadReport;
  pool: string | undefined;
  onClose: () => void;
}

/** What is planned in an hour, by pool, and the triggers whose next moment is in it. */
export function HourPanel({ at, zone, report, pool, onClose }: HourPanelProps) {
  const { t, i18n } = useTranslation();
  const ns = useNamespace();
  const triggers = useQuery({
    queryKey: ["triggers", ns ?? ""],
    queryFn: ({ signal }) => call("trigger_list", { query: { namespace: ns, limit: 1000 }, signal }),
  });
  const place = Math.round((at - (millis(report.from) ?? at)) / HOUR_MS);
  const pools = report.pools
    .filter((each) => (pool ? each.pool === pool : (each.firings[place] ?? 0) > 0))
    .map((each) => ({
      name: each.pool,
      firings: each.firings[place] ?? 0,
      busyMs: each.busy_ms[place] ?? 0,
    }));
  const next = (triggers.data?.items ?? [])
    .map((trigger) => ({ trigger, fires: millis(trigger.fires_at ?? trigger.next) ?? 0 }))
    .filter(({ trigger, fires }) => !trigger.pause && fires >= at && fires < at + HOUR_MS)
    .sort((a, b) => a.fires - b.fires);
  return (
    <section className="ms-panel" aria-label={t("calendar.hour")}>
      <div className="ms-hour-head">
        <strong>
          {absolute(at, zone).slice(0, 16)}–{clock(at + HOUR_MS, zone).slice(0, 5)}
        </strong>
        <span className="ms-faint">{zone}</span>
        {pools.map((each) => (
          <span key={each.name}>
            {each.name}{" "}
            <span className="ms-muted">
              {t("calendar.firings", { count: each.firings, number: String(each.firings) })}
              {each.busyMs > 0 && ` · ${t("calendar.busy", { busy: duration(each.busyMs) })}`}
            </span>
          </span>
        ))}
        <span className="ms-grow" />
        <ActionIcon aria-label={t("action.close")} onClick={onClose}>
          <IconX size={16} />
        </ActionIcon>
      </div>
      {triggers.error ? (
        <ErrorFace error={triggers.error} onRetry={() => void triggers.refetch()} />
      ) : !triggers.data ? (
        <TableSkeleton />
      ) : next.length === 0 ? (
        <p className="ms-muted">{t("calendar.none_next")}</p>
      ) : (
        <table className="ms-hour">
          <thead>
            <tr>
              <th>{t("calendar.next")}</th>
              <th>{t("calendar.trigger")}</th>
            </tr>
          </thead>
          <tbody>
            {next.map(({ trigger, fires }) => (
              <tr key={`${trigger.job} ${trigger.name}`}>
                <td>{clock(fires, zone)}</td>
                <td>
                  <Link
                    to="/jobs/$job/triggers/$trigger"
                    params={{ job: trigger.job_name, trigger: trigger.name }}
                    search={{ ns: trigger.namespace }}
                  >
                    {trigger.job_name} / {trigger.name}
                  </Link>{" "}
                  <span className="ms-muted">{inWords(trigger, i18n.language)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
