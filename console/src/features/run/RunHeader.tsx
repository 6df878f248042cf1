import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { Id } from "@/components/ui/Copy";
import { PageHeader } from "@/components/ui/PageHeader";
import { StateBadge } from "@/components/ui/StateBadge";
import { Elapsed, ZonedTime } from "@/components/ui/Time";
import type { Run } from "@/lib/api/schema";
import { isEnded } from "@/lib/state/run";
import { RunActions } from "./RunActions";

export function RunHeader({ run }: { run: Run }) {
  const { t } = useTranslation();
  const job = run.job_name ?? run.job;
  return (
    <>
      <nav className="ms-crumbs" aria-label={t("run.crumbs")}>
        {run.namespace.split("/").map((part, index, parts) => (
          <span key={parts.slice(0, index + 1).join("/")}>
            <Link to="/jobs" search={{ ns: parts.slice(0, index + 1).join("/") }}>
              {part}
            </Link>
            <span aria-hidden> / </span>
          </span>
        ))}
        {run.ad_hoc ? (
          <span>{job}</span>
        ) : (
          <Link to="/jobs/$job" params={{ job }} search={{ ns: run.namespace }}>
            {job}
          </Link>
        )}
        <span aria-hidden> / </span>
        <Id value={run.id} />
      </nav>
      <PageHeader
        title={
          <>
            {job}
            <StateBadge
              kind="run"
              size="lg"
              state={run.state}
              cancelling={Boolean(run.cancel_requested_by) && !isEnded(run.state)}
            />
          </>
        }
        note={
          <span className="ms-run-facts">
            {run.attempt > 0 && (
              <span>
                {run.attempts_max
                  ? t("run.attempt_of", { n: run.attempt, max: run.attempts_max })
                  : t("run.attempt_n", { n: run.attempt })}
              </span>
            )}
            {run.started_at && (
              <span>
                <Elapsed
                  from={run.started_at}
                  until={run.state === "running" ? undefined : run.finished_at}
                />
              </span>
            )}
            <span>v{run.job_version}</span>
            {run.node_name && <span>{t("run.on_node", { node: run.node_name })}</span>}
            <span>
              {run.trigger
                ? t("run.by_trigger", { trigger: run.trigger })
                : t("run.by", { by: run.submitted_by })}{" "}
              <ZonedTime at={run.created_at} />
            </span>
          </span>
        }
      >
        <RunActions run={run} />
      </PageHeader>
    </>
  );
}
