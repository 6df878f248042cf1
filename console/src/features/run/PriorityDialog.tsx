import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { PriorityInput, priorityOf } from "@/components/runs/PriorityInput";
import { Confirm } from "@/components/ui/Confirm";
import { call } from "@/lib/api/client";
import type { Run } from "@/lib/api/schema";
import { rereadRun } from "./useRun";

/** Makes a run more or less important. */
export function PriorityDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [priority, setPriority] = useState(run.priority);
  const change = useMutation({
    mutationFn: () =>
      call("run_prioritise", { path: { run: run.id }, body: { priority: priorityOf(priority) } }),
    onSuccess: onClose,
    onSettled: () => rereadRun(client, run.id),
  });
  return (
    <Confirm
      title={t("run.priority.title", { name: `…${run.id.slice(-6)}` })}
      text={t("run.priority.text")}
      action={t("run.priority.change")}
      keep={t("action.close")}
      busy={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    >
      <PriorityInput value={priority} onChange={setPriority} />
    </Confirm>
  );
}
