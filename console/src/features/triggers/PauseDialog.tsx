import { TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { call } from "@/lib/api/client";
import type { JobTrigger } from "@/lib/api/schema";
import { useReread } from "./useResume";

interface DialogProps {
  trigger: JobTrigger;
  onClose: () => void;
}

/** Pauses the trigger, with a note for others. */
export function PauseDialog({ trigger, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [note, setNote] = useState("");
  const { namespace, job_name: job, name } = trigger;
  const pause = useMutation({
    mutationFn: () =>
      call("trigger_pause", { path: { job, trigger: name }, query: { namespace }, body: { note } }),
    onSuccess: onClose,
    onSettled: useReread(trigger),
  });
  return (
    <Confirm
      title={t("triggers.pause_title", { name })}
      text={t("triggers.pause_text")}
      action={t("triggers.pause")}
      busy={pause.isPending}
      error={pause.error}
      onConfirm={() => pause.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={t("triggers.note")}
        value={note}
        maxLength={4096}
        data-autofocus
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </Confirm>
  );
}
