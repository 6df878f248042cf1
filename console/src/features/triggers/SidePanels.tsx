import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { BackfillItem } from "@/components/triggers/BackfillItem";
import { Firings } from "@/components/triggers/Firings";
import { isPlanned } from "@/components/triggers/triggers";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { ZonedTime } from "@/components/ui/Time";
import type { JobTrigger } from "@/lib/api/schema";
import { zoneOf } from "@/lib/time/zone";
import type { useTrigger } from "./useTrigger";

interface SidePanelsProps {
  trigger: JobTrigger;
  backfills: ReturnType<typeof useTrigger>["backfills"];
}

/** What comes, what is made up for, and what the job file says. */
export function SidePanels({ trigger, backfills }: SidePanelsProps) {
  const { t } = useTranslation();
  const { spec, namespace, job_name: job } = trigger;
  const calendars = [spec.calendar ?? []].flat();
  return (
    <>
      {(backfills.error || (backfills.data?.items.length ?? 0) > 0) && (
        <section className="ms-panel" aria-label={t("nav.backfills")}>
          <h2>{t("nav.backfills")}</h2>
          {backfills.error && !backfills.data && (
            <ErrorFace error={backfills.error} onRetry={() => void backfills.refetch()} />
          )}
          {backfills.data?.items.map((backfill) => (
            <BackfillItem
              key={backfill.id}
              backfill={backfill}
              zone={zoneOf(trigger)}
              namespace={namespace}
              job={job}
              trigger={trigger.name}
            />
          ))}
        </section>
      )}
      <section className="ms-panel" aria-label={t("triggers.firings")}>
        <h2>{t("triggers.firings")}</h2>
        {!isPlanned(trigger) ? (
          <p className="ms-muted">{t("triggers.no_clock")}</p>
        ) : trigger.next ? (
          <Firings trigger={trigger} />
        ) : (
          <p className="ms-muted">{t("triggers.no_more")}</p>
        )}
      </section>
      <section className="ms-panel" aria-label={t("triggers.facts")}>
        <h2>{t("triggers.facts")}</h2>
        <dl className="ms-facts">
          <dt>{t("triggers.cursor")}</dt>
          <dd>
            <ZonedTime at={trigger.cursor} />
          </dd>
          <dt>{t("triggers.fired_runs")}</dt>
          <dd>
            {trigger.fired}
            {trigger.last_run && (
              <>
                {" · "}
                {t("triggers.last_run")}{" "}
                <Link
                  to="/runs/$run"
                  params={{ run: trigger.last_run }}
                  search={(before) => ({ ns: before.ns })}
                >
                  …{trigger.last_run.slice(-6)}
                </Link>
              </>
            )}
          </dd>
          {trigger.failures > 0 && (
            <>
              <dt>{t("triggers.failures")}</dt>
              <dd>
                {trigger.failures}
                {spec.pause_after ? ` · ${t("triggers.pause_after", { count: spec.pause_after })}` : ""}
              </dd>
            </>
          )}
          {spec.misfire && (
            <>
              <dt>{t("triggers.misfire")}</dt>
              <dd>
                <code>{[spec.misfire.policy, spec.misfire.window].filter(Boolean).join(" · ")}</code>
              </dd>
            </>
          )}
          {spec.jitter && (
            <>
              <dt>{t("triggers.jitter")}</dt>
              <dd>{spec.jitter}</dd>
            </>
          )}
          {calendars.length > 0 && (
            <>
              <dt>{t("triggers.calendar")}</dt>
              <dd>
                {calendars.map((name) => (
                  <Link
                    key={name}
                    className="ms-label"
                    to="/calendars/$calendar"
                    params={{ calendar: name }}
                    search={{ ns: namespace }}
                  >
                    {name}
                  </Link>
                ))}
              </dd>
            </>
          )}
        </dl>
      </section>
    </>
  );
}
