import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { send } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";
import type { Run, Why, WhyAction } from "@/lib/api/schema";
import { rereadRun } from "./useRun";
import { actionsOf } from "./why";

/** Buttons for what would help the run on, as the server offers them; those that the role may not use are absent. */
export function WhyActions({ run, why }: { run: Run; why: Why | undefined }) {
  const { t } = useTranslation();
  const [first, ...rest] = actionsOf(run, why);
  return (
    <div className="ms-buttons">
      {why?.reason?.kind === "concurrency" && (
        <LinkButton
          to="/runs"
          search={{ q: `job:${run.job_name ?? run.job} state:running`, ns: run.namespace }}
        >
          {t("run.remedy.show_running")}
        </LinkButton>
      )}
      {rest.map((action) => (
        <ActionButton key={`${action.operation} ${action.path}`} action={action} run={run} />
      ))}
      {first && <ActionButton action={first} run={run} isFirst />}
    </div>
  );
}

const WORDS = {
  "run.retry": "run_retry",
  "job.resume": "job_resume",
  "cell.resume": "cell_resume",
  "node.resume": "node_resume",
} as const;

function ActionButton({ action, run, isFirst }: { action: WhyAction; run: Run; isFirst?: boolean }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: () => send(action.method, action.path, action.body ?? undefined),
    onSettled: () => rereadRun(client, run.id),
  });
  const variant = isFirst ? "filled" : "default";
  const target = action.target ?? "";
  switch (action.operation) {
    case "job.put":
      return (
        <LinkButton
          variant={variant}
          to="/jobs/$job/edit"
          params={{ job: target || run.job }}
          search={{ ns: run.namespace }}
          title={action.field ?? undefined}
        >
          {t("run.remedy.edit_job", { field: action.field ?? "" })}
        </LinkButton>
      );
    case "node.invite":
      return (
        <LinkButton variant={variant} to="/nodes" search={{ do: "invite" }}>
          {t("run.remedy.add_node")}
        </LinkButton>
      );
    case "run.retry":
    case "job.resume":
    case "cell.resume":
    case "node.resume": {
      const told = act.error ? explain(act.error, t) : undefined;
      const word = WORDS[action.operation];
      return (
        <>
          {told && (
            <span className="ms-error" role="alert">
              {told.title}
            </span>
          )}
          <Button variant={variant} loading={act.isPending} onClick={() => act.mutate()}>
            {t(`run.remedy.${word}`, { target })}
          </Button>
        </>
      );
    }
    default:
      return null;
  }
}
