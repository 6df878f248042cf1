import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { call } from "@/lib/api/client";
import type { Job } from "@/lib/api/schema";
import { jobKey } from "./useJob";

/** The triggers that follow or need the job. */
export function DependentsTab({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    queryKey: [...jobKey(job.namespace, job.name), "dependents"],
    queryFn: ({ signal }) =>
      call("job_dependents", { path: { job: job.name }, query: { namespace: job.namespace }, signal }),
  });
  if (error && !data) return <ErrorFace error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  if (data.items.length === 0) return <Face kind="empty" title={t("jobs.no_dependents")} />;
  return (
    <section className="ms-panel">
      {data.partial && <p className="ms-muted">{t("jobs.dependents_partial")}</p>}
      <ul className="ms-dependents">
        {data.items.map(({ job: id, job_name, trigger, kind }) => (
          <li key={`${id} ${trigger} ${kind}`}>
            <Link to="/jobs/$job" params={{ job: job_name }} search={{ ns: job.namespace, tab: "triggers" }}>
              {job_name}
            </Link>{" "}
            <span className="ms-muted">{t(`jobs.depends.${kind}`, { trigger })}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
