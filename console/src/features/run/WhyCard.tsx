import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { useZone } from "@/app/preferences";
import { useMay } from "@/app/session";
import { call } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";
import type { Run, Why } from "@/lib/api/schema";
import { useNow } from "@/lib/time/now";
import { rereadRun } from "./useRun";
import { type Remedy, remediesOf, whyWords } from "./why";

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
      <div className="ms-buttons">
        {remediesOf(run, why).map((remedy) => (
          <RemedyButton key={remedy} remedy={remedy} run={run} />
        ))}
      </div>
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

function RemedyButton({ remedy, run }: { remedy: Remedy; run: Run }) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: async (what: "retry" | "resume_job") => {
      if (what === "retry") await call("run_retry", { path: { run: run.id } });
      else
        await call("job_resume", { path: { job: run.job }, query: { namespace: run.namespace }, body: {} });
    },
    onSettled: () => rereadRun(client, run.id),
  });
  const told = act.error ? explain(act.error, t) : undefined;
  if (remedy === "show_running") {
    return (
      <LinkButton
        to="/runs"
        search={{ q: `job:${run.job_name ?? run.job} state:running`, ns: run.namespace }}
      >
        {t("run.remedy.show_running")}
      </LinkButton>
    );
  }
  if (remedy === "show_nodes") {
    if (!mayDo("node.list")) return null;
    return (
      <LinkButton to="/nodes" search={{ pool: run.reason?.pool ?? undefined }}>
        {t("run.remedy.show_nodes")}
      </LinkButton>
    );
  }
  if (!mayDo(remedy === "retry" ? "run.retry" : "job.resume", run.namespace)) return null;
  return (
    <>
      {told && (
        <span className="ms-error" role="alert">
          {told.title}
        </span>
      )}
      <Button variant="filled" loading={act.isPending} onClick={() => act.mutate(remedy)}>
        {t(`run.remedy.${remedy}`)}
      </Button>
    </>
  );
}
