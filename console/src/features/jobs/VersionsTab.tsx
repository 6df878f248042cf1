import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { jobRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { DiffView } from "@/components/ui/DiffView";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { ZonedTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import type { Job } from "@/lib/api/schema";
import { jobKey } from "./useJob";

export function VersionsTab({ job }: { job: Job }) {
  const mayDo = useMay();
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/jobs/$job" });
  const search = jobRoute.useSearch();
  const request = { path: { job: job.name }, query: { namespace: job.namespace } };
  const key = jobKey(job.namespace, job.name);
  const versions = useQuery({
    queryKey: [...key, "versions"],
    queryFn: ({ signal }) =>
      call("job_versions", { path: request.path, query: { ...request.query, limit: 100 }, signal }),
  });
  const to = search.to ?? job.version;
  const from = search.from ?? Math.max(1, to - 1);
  const diff = useQuery({
    queryKey: [...key, "diff", from, to],
    queryFn: ({ signal }) =>
      call("job_diff", { path: request.path, query: { ...request.query, from, to }, signal }),
    enabled: from !== to,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const choose = (change: { from?: number; to?: number }) =>
    void navigate({ search: (before) => ({ ...before, ...change }) });
  if (versions.error) return <ErrorFace error={versions.error} onRetry={() => void versions.refetch()} />;
  if (!versions.data) return <TableSkeleton />;
  return (
    <div className="ms-versions">
      <ul>
        {versions.data.items.map((version) => (
          <li
            key={version.version}
            data-chosen={version.version === from || version.version === to || undefined}
          >
            <strong>v{version.version}</strong>
            <span>{version.created_by}</span>
            <span className="ms-muted">
              <ZonedTime at={version.created_at} />
            </span>
            {version.origin && <span className="ms-faint">{t(`jobs.origin.${version.origin}`)}</span>}
            {version.version === job.version && <span className="ms-label">{t("jobs.current")}</span>}
            <span className="ms-grow" />
            <Button
              variant={version.version === from ? "light" : "subtle"}
              aria-pressed={version.version === from}
              onClick={() => choose({ from: version.version })}
            >
              {t("jobs.from")}
            </Button>
            <Button
              variant={version.version === to ? "light" : "subtle"}
              aria-pressed={version.version === to}
              onClick={() => choose({ to: version.version })}
            >
              {t("jobs.to")}
            </Button>
            {version.note && <span className="ms-version-note">{version.note}</span>}
          </li>
        ))}
      </ul>
      <section className="ms-panel">
        <h2>
          v{from} → v{to}
        </h2>
        {mayDo("job.put", job.namespace) && from !== job.version && (
          <LinkButton
            to="/jobs/$job/edit"
            params={{ job: job.name }}
            search={{ ns: job.namespace, version: from }}
          >
            {t("jobs.start_from", { version: from })}
          </LinkButton>
        )}
        {from === to ? (
          <p className="ms-muted">{job.version === 1 ? t("jobs.one_version") : t("jobs.same_version")}</p>
        ) : diff.error ? (
          <ErrorFace error={diff.error} onRetry={() => void diff.refetch()} />
        ) : diff.data ? (
          <DiffView changes={diff.data.changes} none={t("jobs.no_changes")} />
        ) : (
          <TableSkeleton />
        )}
      </section>
    </div>
  );
}
