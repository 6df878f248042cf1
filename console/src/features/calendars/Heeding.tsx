import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { inWords } from "@/components/triggers/triggers";
import { ErrorFace } from "@/components/ui/ErrorFace";
import type { Calendar } from "@/lib/api/schema";
import { useHeeding } from "./useCalendars";

const SHOWN = 20;

/** The triggers that heed the calendar: who is concerned when it changes. */
export function Heeding({ calendar }: { calendar: Calendar }) {
  const { t, i18n } = useTranslation();
  const triggers = useHeeding(calendar);
  if (triggers.error) return <ErrorFace error={triggers.error} onRetry={() => void triggers.refetch()} />;
  const items = triggers.data?.items ?? [];
  return (
    <section className="ms-panel" aria-label={t("calendars.heeding")} aria-busy={triggers.isPending}>
      <h2>
        {t("calendars.heeding")} {triggers.data && `${triggers.data.isExact ? "" : "≥ "}${items.length}`}
      </h2>
      {triggers.data && items.length === 0 && <p className="ms-muted">{t("calendars.heeded_by_none")}</p>}
      <ul className="ms-heeding">
        {items.slice(0, SHOWN).map((trigger) => (
          <li key={`${trigger.job} ${trigger.name}`}>
            <Link
              to="/jobs/$job/triggers/$trigger"
              params={{ job: trigger.job_name, trigger: trigger.name }}
              search={{ ns: trigger.namespace }}
            >
              {trigger.job_name} / {trigger.name}
            </Link>
            <span className="ms-muted">{inWords(trigger, i18n.language)}</span>
          </li>
        ))}
      </ul>
      {items.length > SHOWN && (
        <p className="ms-muted">{t("calendars.more_triggers", { count: items.length - SHOWN })}</p>
      )}
    </section>
  );
}
