import { useTranslation } from "react-i18next";
import { Elapsed, ZonedTime } from "@/components/ui/Time";
import type { Attempt } from "@/lib/api/schema";
import { bytes } from "@/lib/size";
import { causeWords } from "@/lib/state/words";
import { duration } from "@/lib/time/format";

export function AttemptsTab({
  attempts,
  onPick,
}: {
  attempts: Attempt[];
  onPick: (attempt: number) => void;
}) {
  const { t, i18n } = useTranslation();
  if (attempts.length === 0) return <p className="ms-muted ms-pad">{t("run.log.not_begun")}</p>;
  return (
    <div className="ms-scroll-x">
      <table className="ms-plain">
        <thead>
          <tr>
            <th>{t("run.col.attempt")}</th>
            <th>{t("run.fact.node")}</th>
            <th>{t("run.fact.started")}</th>
            <th>{t("run.col.start_took")}</th>
            <th>{t("run.fact.took")}</th>
            <th>{t("run.col.cause")}</th>
            <th>{t("run.fact.cpu")}</th>
            <th>{t("run.fact.memory")}</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt) => (
            <tr key={attempt.number}>
              <td>
                <button type="button" className="ms-link" onClick={() => onPick(attempt.number)}>
                  {t("run.attempt_n", { n: attempt.number })}
                </button>
              </td>
              <td>{attempt.node_name ?? "–"}</td>
              <td>
                <ZonedTime at={attempt.started_at} />
              </td>
              <td>
                {attempt.started_at ? <Elapsed from={attempt.placed_at} until={attempt.started_at} /> : "–"}
              </td>
              <td>
                {attempt.finished_at ? (
                  <Elapsed from={attempt.started_at} until={attempt.finished_at} />
                ) : attempt.started_at ? (
                  <Elapsed from={attempt.started_at} />
                ) : (
                  "–"
                )}
              </td>
              <td>{attempt.cause ? causeWords(attempt.cause, i18n.language) : "–"}</td>
              <td>{attempt.usage ? duration(attempt.usage.cpu_us / 1000) : "–"}</td>
              <td>{attempt.usage?.memory_peak_bytes ? bytes(attempt.usage.memory_peak_bytes) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
