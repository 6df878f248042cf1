import { useTranslation } from "react-i18next";
import { ZonedTime } from "@/components/ui/Time";
import type { Run } from "@/lib/api/schema";
import { bytes } from "@/lib/size";
import { duration } from "@/lib/time/format";

const TEXT_MAX = 100_000;

export function ParamsTab({ run }: { run: Run }) {
  const { t } = useTranslation();
  return (
    <div className="ms-params">
      <section className="ms-panel">
        <h2>{t("run.params")}</h2>
        <Json value={run.params} none={t("run.none")} />
      </section>
      <section className="ms-panel">
        <h2>{t("run.result")}</h2>
        <Json value={run.result} none={t("run.none")} />
      </section>
      <section className="ms-panel">
        <h2>{t("run.facts")}</h2>
        <dl className="ms-facts">
          <Fact name={t("run.fact.created")} value={<ZonedTime at={run.created_at} />} />
          {run.logical_time && (
            <Fact name={t("run.fact.planned")} value={<ZonedTime at={run.logical_time} />} />
          )}
          <Fact name={t("run.fact.started")} value={<ZonedTime at={run.started_at} />} />
          <Fact name={t("run.fact.finished")} value={<ZonedTime at={run.finished_at} />} />
          {run.deadline && <Fact name={t("run.fact.deadline")} value={<ZonedTime at={run.deadline} />} />}
          <Fact name={t("run.fact.cpu")} value={run.usage ? duration(run.usage.cpu_us / 1000) : "–"} />
          <Fact
            name={t("run.fact.memory")}
            value={run.usage?.memory_peak_bytes ? bytes(run.usage.memory_peak_bytes) : "–"}
          />
          <Fact name={t("run.fact.priority")} value={run.priority} />
          {Object.entries(run.labels ?? {}).map(([key, value]) => (
            <Fact key={key} name={key} value={String(value)} />
          ))}
        </dl>
      </section>
    </div>
  );
}

function Fact({ name, value }: { name: string; value: React.ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Json({ value, none }: { value: unknown; none: string }) {
  const { t } = useTranslation();
  if (value === undefined || value === null) return <p className="ms-muted">{none}</p>;
  const text = JSON.stringify(value, null, 2);
  return (
    <>
      <pre className="ms-code" tabIndex={0}>
        {text.slice(0, TEXT_MAX)}
      </pre>
      {text.length > TEXT_MAX && <p className="ms-muted">{t("run.cut", { size: bytes(text.length) })}</p>}
    </>
  );
}
