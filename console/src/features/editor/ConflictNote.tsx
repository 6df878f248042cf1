import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { DiffView } from "@/components/ui/DiffView";
import { call } from "@/lib/api/client";
import type { Job } from "@/lib/api/schema";

interface ConflictNoteProps {
  ns: string;
  job: Job;
  onOver: (revision: number) => void;
}

/** Somebody else saved meanwhile: what they changed, and a choice. The person's text is kept. */
export function ConflictNote({ ns, job, onOver }: ConflictNoteProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const request = { path: { job: job.name }, query: { namespace: ns } };
  const theirs = useQuery({
    queryKey: ["editor", ns, job.name, "theirs", job.revision],
    queryFn: async ({ signal }) => {
      const now = await call("job_get", { ...request, signal });
      const { items } = await call("job_versions", {
        path: request.path,
        query: { ...request.query, limit: 1 },
        signal,
      });
      const diff =
        now.version > job.version
          ? await call("job_diff", {
              path: request.path,
              query: { ...request.query, from: job.version, to: now.version },
              signal,
            })
          : undefined;
      return { now, by: items[0]?.created_by ?? "?", changes: diff?.changes ?? [] };
    },
    gcTime: 0,
  });
  const data = theirs.data;
  return (
    <div className="ms-note ms-conflict" role="alert">
      <p>
        {data && data.now.version > job.version
          ? t("editor.conflict", { by: data.by, version: data.now.version })
          : t("editor.conflict_other")}
      </p>
      {data && isOpen && <DiffView changes={data.changes} none={t("editor.no_changes")} />}
      <div className="ms-buttons">
        {data && data.changes.length > 0 && (
          <Button onClick={() => setOpen(!isOpen)}>{t("editor.compare")}</Button>
        )}
        {data && (
          <Button onClick={() => onOver(data.now.revision)}>
            {t("editor.save_over", { version: data.now.version })}
          </Button>
        )}
      </div>
    </div>
  );
}
