import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import type { Run, Why } from "@/lib/api/schema";
import { useNow } from "@/lib/time/now";
import { NodeVerdicts } from "./NodeVerdicts";
import { WhyActions } from "./WhyActions";
import { whyWords } from "./why";

/** Why the run is where it is, and a button for what would help, where the role may. */
export function WhyCard({ run, why }: { run: Run; why: Why | undefined }) {
  const { t, i18n } = useTranslation();
  const now = useNow();
  const words = whyWords(run, why, now, t, i18n.language, useZone());
  return (
    <section className="ms-panel ms-why" aria-label={t("run.why.title")}>
      <div className="ms-why-text">
        <p className="ms-why-sentence">
          {words.sentence} {words.code && <code>{words.code}</code>}
        </p>
        {words.remedy && <p className="ms-muted">{words.remedy}</p>}
        {run.progress && run.state === "running" && (
          <Progress fraction={run.progress.fraction} message={run.progress.message} />
        )}
        {words.notes.map((note) => (
          <p key={note} className="ms-why-note">
            {note}
          </p>
        ))}
      </div>
      <WhyActions run={run} why={why} />
      <NodeVerdicts verdicts={why?.nodes ?? []} />
    </section>
  );
}

function Progress({ fraction, message }: { fraction: number; message: string }) {
  const percent = Math.round(fraction * 100);
  return (
    <div className="ms-run-progress">
      <progress max={100} value={percent} aria-label={message || `${percent} %`} />
      <span>
        {percent} % {message}
      </span>
    </div>
  );
}
