import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { RelativeTime } from "@/components/ui/Time";
import type { JobTrigger } from "@/lib/api/schema";
import { millis } from "@/lib/time/format";

const SHOWN = 6;

export function NextFirings({ triggers }: { triggers: JobTrigger[] }) {
  const { t, i18n } = useTranslation();
  const next = triggers
    .filter((trigger) => trigger.next && !trigger.pause && !trigger.job_pause)
    .sort((a, b) => (millis(a.fires_at ?? a.next) ?? 0) - (millis(b.fires_at ?? b.next) ?? 0))
    .slice(0, SHOWN);
  return (
    <section className="ms-panel" aria-label={t("overview.next")}>
      <h2>{t("overview.next")}</h2>
      {next.length === 0 && <p className="ms-muted">{t("overview.nothing_planned")}</p>}
      <ul className="ms-next">
        {next.map((trigger) => (
          <li key={`${trigger.job} ${trigger.name}`}>
            <span className="ms-next-at">
              <RelativeTime at={trigger.fires_at ?? trigger.next} />
            </span>
            <Link
              to="/jobs/$job"
              params={{ job: trigger.job_name }}
              search={{ ns: trigger.namespace, tab: "triggers" }}
            >
              {trigger.job_name}
            </Link>
            <span className="ms-muted ms-next-when">
              {i18n.language === "zh" ? trigger.description.zh : trigger.description.en}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
