import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { triggerRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { isPlanned } from "@/components/triggers/triggers";
import type { Range } from "@/components/ui/CadenceChart";
import { CopyAs } from "@/components/ui/Copy";
import { explain } from "@/lib/api/problem";
import type { JobTrigger } from "@/lib/api/schema";
import { apiCommand, cli } from "@/lib/commands";
import { BackfillDialog } from "./BackfillDialog";
import { CursorDialog } from "./CursorDialog";
import { FireDialog } from "./FireDialog";
import { PauseDialog } from "./PauseDialog";
import { useResume } from "./useResume";

interface TriggerActionsProps {
  trigger: JobTrigger;
  brush: Range | undefined;
  /** A backfill has begun. */
  onStarted: () => void;
}

/** What can be done with the trigger, as far as the role goes. The dialog that is open is in the URL. */
export function TriggerActions({ trigger, brush, onStarted }: TriggerActionsProps) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const navigate = useNavigate({ from: "/jobs/$job/triggers/$trigger" });
  const { do: open } = triggerRoute.useSearch();
  const resume = useResume(trigger);
  const { namespace, job_name: job, name } = trigger;
  const show = (dialog: typeof open) => void navigate({ search: (before) => ({ ...before, do: dialog }) });
  const close = () => show(undefined);
  const where = namespace === "default" ? [] : ["-n", namespace];
  const told = resume.error ? explain(resume.error, t) : undefined;
  const may = {
    backfill: isPlanned(trigger) && mayDo("backfill.start", namespace),
    cursor: isPlanned(trigger) && mayDo("trigger.cursor", namespace),
    fire: mayDo("trigger.fire", namespace),
    pause: !trigger.pause && mayDo("trigger.pause", namespace),
    resume: Boolean(trigger.pause) && mayDo("trigger.resume", namespace),
  };
  usePageCommands([
    may.backfill && { label: t("triggers.backfill"), alias: "backfill", run: () => show("backfill") },
    may.fire && { label: t("triggers.fire"), alias: "fire now", run: () => show("fire") },
    may.pause && { label: t("triggers.pause"), alias: "pause trigger", run: () => show("pause") },
    may.resume && { label: t("triggers.resume"), alias: "resume trigger", run: () => resume.mutate() },
    may.cursor && { label: t("triggers.move_cursor"), alias: "move cursor", run: () => show("cursor") },
  ]);
  return (
    <>
      {told && (
        <span className="ms-error" role="alert">
          {told.title} {told.text}
        </span>
      )}
      {may.backfill && (
        <Button variant="filled" onClick={() => show("backfill")}>
          {t("triggers.backfill")}
        </Button>
      )}
      {may.fire && <Button onClick={() => show("fire")}>{t("triggers.fire")}</Button>}
      {may.resume && (
        <Button loading={resume.isPending} onClick={() => resume.mutate()}>
          {t("triggers.resume")}
        </Button>
      )}
      {may.pause && <Button onClick={() => show("pause")}>{t("triggers.pause")}</Button>}
      {may.cursor && <Button onClick={() => show("cursor")}>{t("triggers.move_cursor")}</Button>}
      <CopyAs
        items={[
          { label: t("triggers.copy_history_cli"), text: cli("trigger", "history", ...where, job, name) },
          {
            label: t("triggers.copy_history_http"),
            text: apiCommand("trigger_history", { job, trigger: name }, { namespace }),
          },
          ...(may.fire
            ? [
                { label: t("triggers.copy_fire_cli"), text: cli("trigger", "fire", ...where, job, name) },
                {
                  label: t("triggers.copy_fire_http"),
                  text: apiCommand("trigger_fire", { job, trigger: name }, { namespace }),
                },
              ]
            : []),
        ]}
      />
      {open === "backfill" && may.backfill && (
        <BackfillDialog trigger={trigger} range={brush} onStarted={onStarted} onClose={close} />
      )}
      {open === "fire" && may.fire && <FireDialog trigger={trigger} onClose={close} />}
      {open === "pause" && may.pause && <PauseDialog trigger={trigger} onClose={close} />}
      {open === "cursor" && may.cursor && <CursorDialog trigger={trigger} onClose={close} />}
    </>
  );
}
