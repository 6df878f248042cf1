import { Button, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageKeys } from "@/app/keys";
import { usePageCommands } from "@/app/pageCommands";
import { useMay } from "@/app/session";
import { Confirm } from "@/components/ui/Confirm";
import { CopyAs } from "@/components/ui/Copy";
import { call, newKey } from "@/lib/api/client";
import type { Run } from "@/lib/api/schema";
import { apiCommand, cli } from "@/lib/commands";
import { ACTION_PERMISSION, actionsOf, isEnded } from "@/lib/state/run";
import { PriorityDialog } from "./PriorityDialog";
import { RerunDialog } from "./RerunDialog";
import { rereadRun } from "./useRun";

type Dialog = "cancel" | "kill" | "rerun" | "prioritise";

/** The first action is the one that the state suggests; the rest is in the menu. What the role cannot do is absent. */
export function RunActions({ run }: { run: Run }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayDo = useMay();
  const [dialog, setDialog] = useState<Dialog>();
  const actions = actionsOf(run).filter((action) => mayDo(ACTION_PERMISSION[action], run.namespace));

  const stop = useMutation({
    mutationFn: (kill: boolean) => call("run_cancel", { path: { run: run.id }, body: { kill } }),
    onSuccess: () => setDialog(undefined),
    onSettled: () => rereadRun(client, run.id),
  });
  const retry = useMutation({
    mutationFn: () => call("run_retry", { path: { run: run.id } }),
    onSettled: () => rereadRun(client, run.id),
  });
  const rerun = useMutation({
    mutationFn: (latest: boolean) =>
      call("run_rerun", { path: { run: run.id }, body: { latest }, idempotencyKey: newKey() }),
    onSuccess: (made) =>
      void navigate({ to: "/runs/$run", params: { run: made.id }, search: (before) => ({ ns: before.ns }) }),
  });
  const can = (action: (typeof actions)[number]) => actions.includes(action);
  usePageKeys(
    useMemo(
      () => ({
        c: actions.includes("cancel") ? () => setDialog("cancel") : undefined,
        r: actions.includes("rerun") ? () => setDialog("rerun") : undefined,
      }),
      [actions],
    ),
  );
  const name = `…${run.id.slice(-6)}`;
  usePageCommands([
    can("retry") && { label: t("run.action.retry"), alias: "retry now", run: () => retry.mutate() },
    can("rerun") && { label: t("run.action.rerun"), alias: "rerun", run: () => rerun.mutate(false) },
    can("rerun") && { label: t("run.action.rerun_edited"), alias: "rerun", run: () => setDialog("rerun") },
    can("cancel") && { label: t("run.action.cancel"), alias: "cancel", run: () => setDialog("cancel") },
    can("kill") && { label: t("run.action.kill"), alias: "kill", run: () => setDialog("kill") },
  ]);
  const error = retry.error ?? rerun.error;
  return (
    <>
      {can("retry") && run.state !== "failed" && (
        <Button loading={retry.isPending} onClick={() => retry.mutate()}>
          {t("run.action.retry")}
        </Button>
      )}
      {can("rerun") && (
        <Button.Group>
          <Button variant="filled" loading={rerun.isPending} onClick={() => rerun.mutate(false)}>
            {t("run.action.rerun")}
          </Button>
          <Menu>
            <Menu.Target>
              <Button variant="filled" aria-label={t("run.action.more_rerun")} px={6}>
                <IconChevronDown size={14} />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setDialog("rerun")}>{t("run.action.rerun_edited")}</Menu.Item>
              {!run.ad_hoc && (
                <Menu.Item onClick={() => rerun.mutate(true)}>{t("run.action.rerun_latest")}</Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </Button.Group>
      )}
      {can("cancel") && <Button onClick={() => setDialog("cancel")}>{t("run.action.cancel")}</Button>}
      {can("kill") && (
        <Button color="red" variant="subtle" onClick={() => setDialog("kill")}>
          {t("run.action.kill")}
        </Button>
      )}
      {can("prioritise") && (
        <Button variant="subtle" onClick={() => setDialog("prioritise")}>
          {t("run.action.prioritise")}
        </Button>
      )}
      <CopyAs items={copies(run, t)} />
      {dialog === "prioritise" && <PriorityDialog run={run} onClose={() => setDialog(undefined)} />}
      {dialog === "cancel" && (
        <Confirm
          title={t("run.cancel.title", { name })}
          text={t("run.cancel.text")}
          action={t("run.action.cancel")}
          keep={t("run.cancel.keep")}
          danger
          busy={stop.isPending}
          error={stop.error}
          onConfirm={() => stop.mutate(false)}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === "kill" && (
        <Confirm
          title={t("run.kill.title", { name })}
          text={t("run.kill.text")}
          action={t("run.action.kill")}
          keep={t("run.cancel.keep")}
          danger
          busy={stop.isPending}
          error={stop.error}
          onConfirm={() => stop.mutate(true)}
          onClose={() => setDialog(undefined)}
        />
      )}
      {(dialog === "rerun" || error) && (
        <RerunDialog
          run={run}
          error={error}
          onClose={() => {
            setDialog(undefined);
            rerun.reset();
            retry.reset();
          }}
        />
      )}
    </>
  );
}

function copies(run: Run, t: TFunction) {
  const path = { run: run.id };
  const again = isEnded(run.state)
    ? [
        { label: t("run.copy.rerun_cli"), text: cli("rerun", run.id) },
        { label: t("run.copy.rerun_http"), text: apiCommand("run_rerun", path, {}, {}) },
      ]
    : [
        { label: t("run.copy.cancel_cli"), text: cli("cancel", run.id) },
        { label: t("run.copy.cancel_http"), text: apiCommand("run_cancel", path, {}, { kill: false }) },
      ];
  return [
    { label: t("run.copy.logs_cli"), text: cli("logs", "-f", run.id) },
    { label: t("run.copy.read_http"), text: apiCommand("run_get", path) },
    ...again,
  ];
}
