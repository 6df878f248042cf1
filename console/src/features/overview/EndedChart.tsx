import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { EndsChart } from "@/components/ui/EndsChart";
import { TimesChart } from "@/components/ui/TimesChart";
import type { Step } from "@/lib/series";

interface EndedChartProps {
  steps: Step[];
  ns: string | undefined;
  isPartial: boolean;
}

/** Ended runs by step and state, and how long they waited and took; a bar opens its runs. */
export function EndedChart({ steps, ns, isPartial }: EndedChartProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const open = ({ at, ms }: Step) => {
    const [from, until] = [at, at + ms].map((moment) => new Date(moment).toISOString());
    void navigate({ to: "/runs", search: { q: `state:ended created>=${from} created<${until}`, ns } });
  };
  return (
    <section className="ms-panel ms-chart" aria-label={t("overview.ended")}>
      <h2>{t("overview.ended")}</h2>
      <EndsChart steps={steps} onOpen={open} />
      <h2>{t("overview.queue_time")}</h2>
      <TimesChart steps={steps} of="queued" label={t("overview.queue_time")} />
      <h2>{t("overview.run_time")}</h2>
      <TimesChart steps={steps} of="running" label={t("overview.run_time")} />
      {isPartial && <p className="ms-muted">{t("overview.truncated")}</p>}
    </section>
  );
}
