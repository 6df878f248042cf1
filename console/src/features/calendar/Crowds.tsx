import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { CopyButton } from "@/components/ui/Copy";
import type { Crowd, LoadReport } from "@/lib/api/schema";
import { absolute, millis } from "@/lib/time/format";

const SHOWN = 3;

/** Seconds in which many triggers fire at once, and what each could say instead. */
export function Crowds({ report, zone }: { report: LoadReport; zone: string }) {
  const { t } = useTranslation();
  if (report.crowds.length === 0) return null;
  return (
    <section className="ms-panel" aria-label={t("calendar.crowds")}>
      <h2>{t("calendar.crowds")}</h2>
      <p className="ms-muted">{t("calendar.crowds_text")}</p>
      {report.crowds.slice(0, SHOWN).map((crowd) => (
        <CrowdRow key={crowd.at} crowd={crowd} zone={zone} />
      ))}
    </section>
  );
}

function CrowdRow({ crowd, zone }: { crowd: Crowd; zone: string }) {
  const { t } = useTranslation();
  const left = crowd.count - crowd.triggers.length;
  return (
    <details className="ms-crowd">
      <summary>
        <strong>{absolute(millis(crowd.at) ?? 0, zone)}</strong> <span className="ms-faint">{zone}</span>{" "}
        {t("calendar.at_once", { count: crowd.count })}
        {crowd.times > 1 && ` · ${t("calendar.times", { count: crowd.times })}`}
      </summary>
      <ul>
        {crowd.triggers.map((trigger) => (
          <li key={`${trigger.namespace} ${trigger.job_name} ${trigger.name}`}>
            <Link
              to="/jobs/$job/triggers/$trigger"
              params={{ job: trigger.job_name, trigger: trigger.name }}
              search={{ ns: trigger.namespace }}
            >
              {trigger.job_name} / {trigger.name}
            </Link>
            <code>{trigger.when}</code>
            {trigger.spread && (
              <span className="ms-spread">
                → <code>{`${trigger.spread.field}: ${trigger.spread.value}`}</code>
                <CopyButton
                  text={`${trigger.spread.field}: ${JSON.stringify(trigger.spread.value)}`}
                  label={t("calendar.copy_spread")}
                />
                <Link
                  to="/jobs/$job/edit"
                  params={{ job: trigger.job_name }}
                  search={{ ns: trigger.namespace }}
                >
                  {t("calendar.edit_job")}
                </Link>
              </span>
            )}
          </li>
        ))}
      </ul>
      {left > 0 && <p className="ms-muted">{t("calendar.more_triggers", { count: left })}</p>}
    </details>
  );
}
