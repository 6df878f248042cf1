import { Select, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { editJobRoute, newJobRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { call } from "@/lib/api/client";
import type { JobVersion } from "@/lib/api/schema";
import { Editor } from "./Editor";
import { TEMPLATES, type TemplateName } from "./templates";
import { toYaml } from "./yaml";
import "./editor.css";

/** A new job, from a template. */
export function NewJobPage() {
  const { t } = useTranslation();
  const mayDo = useMay();
  const ns = useNamespace() ?? "default";
  const wanted = newJobRoute.useSearch().template;
  const [template, setTemplate] = useState<TemplateName>(
    wanted && wanted in TEMPLATES ? (wanted as TemplateName) : "script",
  );
  if (!mayDo("job.put", ns)) return <Forbidden ns={ns} />;
  return (
    <Editor key={template} ns={ns} base={TEMPLATES[template]} job={undefined}>
      <Select
        size="xs"
        aria-label={t("editor.template")}
        value={template}
        allowDeselect={false}
        data={Object.keys(TEMPLATES).map((value) => ({
          value,
          label: t(`editor.templates.${value as TemplateName}`),
        }))}
        onChange={(value) => setTemplate((value ?? "script") as TemplateName)}
      />
    </Editor>
  );
}

/** A job that is there. */
export function EditJobPage() {
  const mayDo = useMay();
  const { job: name } = editJobRoute.useParams();
  const { version } = editJobRoute.useSearch();
  const ns = useNamespace() ?? "default";
  const job = useQuery({
    queryKey: ["editor", ns, name],
    queryFn: ({ signal }) => call("job_get", { path: { job: name }, query: { namespace: ns }, signal }),
    // The base of a draft stays what it was when editing began.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  // The texts as they were put: comments and order are not in the specification.
  const text = (wanted: number | undefined) => ({
    queryKey: ["editor", ns, name, wanted],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      textOf(
        await call("job_version", {
          path: { job: name, version: wanted ?? 1 },
          query: { namespace: ns },
          signal,
        }),
      ),
    enabled: wanted !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const current = useQuery(text(job.data?.version));
  const old = useQuery(text(version));
  if (!mayDo("job.put", ns)) return <Forbidden ns={ns} />;
  const error = job.error ?? old.error ?? current.error;
  if (error) {
    return (
      <div className="ms-page">
        <ErrorFace error={error} onRetry={() => void job.refetch()} />
      </div>
    );
  }
  const base = version === undefined ? current.data : old.data;
  if (!job.data || base === undefined || current.data === undefined) {
    return (
      <div className="ms-page" aria-busy="true">
        <Skeleton height={36} width="50%" />
        <Skeleton height={400} />
      </div>
    );
  }
  return <Editor key={`${name} ${version}`} ns={ns} base={base} current={current.data} job={job.data} />;
}

/** The text of a version as it was put; one in another language, or of long ago, is written anew. */
const textOf = ({ source, spec }: JobVersion) =>
  source?.media_type === "application/yaml" ? source.text : toYaml(spec as Record<string, unknown>);

function Forbidden({ ns }: { ns: string }) {
  const { t } = useTranslation();
  return (
    <div className="ms-page">
      <Face kind="forbidden" title={t("editor.forbidden", { ns })} text={t("editor.forbidden_text")} />
    </div>
  );
}
