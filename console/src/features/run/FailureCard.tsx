import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { Attempt, Run } from "@/lib/api/schema";
import { plain } from "@/lib/log/ansi";
import type { LogRow } from "@/lib/log/lines";
import { causeWords } from "@/lib/state/words";
import { compare } from "./compare";
import { useLastSuccess } from "./useRun";

interface FailureCardProps {
  run: Run;
  attempt: Attempt | undefined;
  tail: LogRow[];
}

/** What went wrong: the cause, the last lines, and what is different from the last success. */
export function FailureCard({ run, attempt, tail }: FailureCardProps) {
  const { t, i18n } = useTranslation();
  const last = useLastSuccess(run);
  const cause = attempt?.cause ?? run.cause;
  const rows = last.data ? compare(last.data, run, t) : [];
  const differs = rows.filter((row) => row.before !== row.after);
  return (
    <section className="ms-panel ms-failure" aria-label={t("run.failure.title")}>
      <div>
        <h2>{cause ? causeWords(cause, i18n.language) : t("state.failed")}</h2>
        {tail.length > 0 ? (
          <pre
            className="ms-code ms-failure-tail"
            tabIndex={0}
            role="log"
            aria-live="off"
            aria-label={t("run.failure.tail")}
          >
            {tail.map((row) => plain(row.text)).join("\n")}
          </pre>
        ) : (
          <p className="ms-muted">{t("run.failure.no_output")}</p>
        )}
      </div>
      <div>
        <h2>
          {t("run.failure.diff")}{" "}
          {last.data && (
            <Link to="/runs/$run" params={{ run: last.data.id }} search={(before) => ({ ns: before.ns })}>
              …{last.data.id.slice(-6)}
            </Link>
          )}
        </h2>
        {last.isPending && <p className="ms-muted">…</p>}
        {last.error && <p className="ms-muted">{t("face.not_loaded")}</p>}
        {last.data === null && <p className="ms-muted">{t("run.failure.never")}</p>}
        {last.data && differs.length === 0 && <p className="ms-muted">{t("run.failure.same")}</p>}
        {differs.length > 0 && (
          <table className="ms-compare">
            <tbody>
              {differs.map((row) => (
                <tr key={row.name}>
                  <th scope="row">{row.name}</th>
                  <td>{row.before}</td>
                  <td aria-hidden>→</td>
                  <td>{row.after}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}
