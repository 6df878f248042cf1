import { Button, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { usePageCommands } from "@/app/pageCommands";
import { jobRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { Confirm } from "@/components/ui/Confirm";
import { CopyAs } from "@/components/ui/Copy";
import { call } from "@/lib/api/client";
import type { Job } from "@/lib/api/schema";
import { apiCommand, cli } from "@/lib/commands";
import { RunNow } from "./RunNow";
import { jobKey } from "./useJob";

export function JobActions({ job }: { job: Job }) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const client = useQueryClient();
  const navigate = useNavigate({ from: "/jobs/$job" });
  const { do: open } = jobRoute.useSearch();
  const show = (dialog: "run" | "pause" | undefined) =>
    void navigate({ search: (before) => ({ ...before, do: dialog }) });
  const [note, setNote] = useState("");
  const request = { path: { job: job.name }, query: { namespace: job.namespace } };
  const settle = {
    onSuccess: () => show(undefined),
    onSettled: () => client.invalidateQueries({ queryKey: jobKey(job.namespace, job.name) }),
  };
  const pause = useMutation({
    mutationFn: () => call("job_pause", { ...request, body: { note }, ifMatch: job.revision }),
    ...settle,
  });
  const resume = useMutation({ mutationFn: () => call("job_resume", { ...request, body: {} }), ...settle });
  usePageCommands([
    mayDo("run.submit", job.namespace) && {
      label: t("jobs.run_now"),
      alias: "run now",
      run: () => show("run"),
    },
    mayDo("job.put", job.namespace) && {
      label: t("jobs.edit"),
      alias: "edit",
      run: () =>
        void navigate({ to: "/jobs/$job/edit", params: { job: job.name }, search: { ns: job.namespace } }),
    },
    job.pause
      ? mayDo("job.resume", job.namespace) && {
          label: t("jobs.resume"),
          alias: "resume",
          run: () => resume.mutate(),
        }
      : mayDo("job.pause", job.namespace) && {
          label: t("jobs.pause"),
          alias: "pause",
          run: () => show("pause"),
        },
  ]);
  const where = job.namespace === "default" ? [] : ["-n", job.namespace];
  return (
    <>
      {mayDo("run.submit", job.namespace) && (
        <Button variant="filled" onClick={() => show("run")}>
          {t("jobs.run_now")}
        </Button>
      )}
      {mayDo("job.put", job.namespace) && (
        <LinkButton to="/jobs/$job/edit" params={{ job: job.name }} search={{ ns: job.namespace }}>
          {t("jobs.edit")}
        </LinkButton>
      )}
      {job.pause
        ? mayDo("job.resume", job.namespace) && (
            <Button loading={resume.isPending} onClick={() => resume.mutate()}>
              {t("jobs.resume")}
            </Button>
          )
        : mayDo("job.pause", job.namespace) && (
            <Button onClick={() => show("pause")}>{t("jobs.pause")}</Button>
          )}
      <CopyAs
        items={[
          { label: t("runs.copy_cli"), text: cli("run", ...where, job.name) },
          {
            label: t("runs.copy_http"),
            text: apiCommand("run_submit", {}, {}, { job: job.name, namespace: job.namespace }),
          },
        ]}
      />
      {open === "run" && <RunNow job={job} onClose={() => show(undefined)} />}
      {open === "pause" && (
        <Confirm
          title={t("jobs.pause_title", { name: job.name })}
          text={t("jobs.pause_text")}
          action={t("jobs.pause")}
          busy={pause.isPending}
          error={pause.error}
          onConfirm={() => pause.mutate()}
          onClose={() => show(undefined)}
        >
          <TextInput
            label={t("jobs.note")}
            value={note}
            data-autofocus
            onChange={(event) => setNote(event.currentTarget.value)}
          />
        </Confirm>
      )}
    </>
  );
}
