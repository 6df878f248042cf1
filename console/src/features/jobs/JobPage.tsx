import { Skeleton, Tabs } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { JOB_TABS, jobRoute } from "@/app/router";
import { useNamespace } from "@/app/useNamespace";
import { ZoneOfJob } from "@/components/jobs/ZoneOfJob";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { PageHeader } from "@/components/ui/PageHeader";
import { RelativeTime, ZonedTime } from "@/components/ui/Time";
import { labelTexts } from "@/lib/labels";
import { CadenceTab } from "./CadenceTab";
import { DependentsTab } from "./DependentsTab";
import { JobActions } from "./JobActions";
import { JobRuns } from "./JobRuns";
import { StatsTab } from "./StatsTab";
import { TriggersTab } from "./TriggersTab";
import { useJob } from "./useJob";
import { VersionsTab } from "./VersionsTab";
import "./jobs.css";

export function JobPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/jobs/$job" });
  const { job: name } = jobRoute.useParams();
  const { tab = "runs" } = jobRoute.useSearch();
  const ns = useNamespace() ?? "default";
  const { job, triggers } = useJob(ns, name);
  if (job.error && !job.data) {
    return (
      <div className="ms-page">
        <ErrorFace error={job.error} onRetry={() => void job.refetch()} />
      </div>
    );
  }
  if (!job.data) {
    return (
      <div className="ms-page" aria-busy="true">
        <Skeleton height={36} width="50%" />
        <Skeleton height={320} />
      </div>
    );
  }
  const { data } = job;
  const spec = data.spec as Record<string, unknown> | undefined;
  return (
    <ZoneOfJob namespace={data.namespace} job={data.name}>
      <div className="ms-page" data-fixed>
        <nav className="ms-crumbs" aria-label={t("run.crumbs")}>
          {data.namespace.split("/").map((part, index, parts) => (
            <span key={parts.slice(0, index + 1).join("/")}>
              <Link to="/jobs" search={{ ns: parts.slice(0, index + 1).join("/") }}>
                {part}
              </Link>
              <span aria-hidden> / </span>
            </span>
          ))}
          <span>{data.name}</span>
        </nav>
        <PageHeader
          title={data.name}
          note={
            <>
              v{data.version} · {t("jobs.updated")} <RelativeTime at={data.updated_at} />{" "}
              {labelTexts(data.spec?.labels as Record<string, string>).map((label) => (
                <span className="ms-label" key={label}>
                  {label}
                </span>
              ))}
            </>
          }
        >
          <JobActions job={data} />
        </PageHeader>
        {typeof spec?.description === "string" && spec.description && (
          <p className="ms-muted">{spec.description}</p>
        )}
        {data.pause && (
          <p className="ms-note">
            {t("jobs.paused_by", { by: data.pause.by })} <ZonedTime at={data.pause.at} />
            {data.pause.note && ` · ${data.pause.note}`}
          </p>
        )}
        <Tabs
          value={tab}
          keepMounted={false}
          className="ms-job-tabs"
          onChange={(value) =>
            void navigate({
              search: (before) => ({ ...before, tab: value === "runs" ? undefined : (value as "spec") }),
            })
          }
        >
          <Tabs.List>
            {JOB_TABS.map((each) => (
              <Tabs.Tab key={each} value={each}>
                {t(`jobs.tab.${each}`)}
                <span className="ms-faint">
                  {each === "triggers"
                    ? ` ${triggers.data?.items.length ?? ""}`
                    : each === "versions"
                      ? ` ${data.version}`
                      : ""}
                </span>
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="runs">
            <JobRuns job={data} />
          </Tabs.Panel>
          <Tabs.Panel value="cadence">
            {triggers.error ? (
              <ErrorFace error={triggers.error} onRetry={() => void triggers.refetch()} />
            ) : (
              <CadenceTab triggers={triggers.data?.items} />
            )}
          </Tabs.Panel>
          <Tabs.Panel value="triggers">
            {triggers.error ? (
              <ErrorFace error={triggers.error} onRetry={() => void triggers.refetch()} />
            ) : (
              <TriggersTab triggers={triggers.data?.items} />
            )}
          </Tabs.Panel>
          <Tabs.Panel value="versions">
            <VersionsTab job={data} />
          </Tabs.Panel>
          <Tabs.Panel value="stats">
            <StatsTab job={data} />
          </Tabs.Panel>
          <Tabs.Panel value="dependents">
            <DependentsTab job={data} />
          </Tabs.Panel>
          <Tabs.Panel value="spec">
            <pre className="ms-code ms-spec" tabIndex={0}>
              {JSON.stringify(data.spec, null, 2)}
            </pre>
          </Tabs.Panel>
        </Tabs>
      </div>
    </ZoneOfJob>
  );
}
