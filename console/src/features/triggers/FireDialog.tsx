import { Button, Modal } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { call } from "@/lib/api/client";
import type { JobTrigger } from "@/lib/api/schema";
import { useReread } from "./useResume";

interface DialogProps {
  trigger: JobTrigger;
  onClose: () => void;
}

/** Fires the trigger now, and leads to the run. */
export function FireDialog({ trigger, onClose }: DialogProps) {
  const { t } = useTranslation();
  const { namespace, job_name: job, name } = trigger;
  const fire = useMutation({
    mutationFn: () => call("trigger_fire", { path: { job, trigger: name }, query: { namespace } }),
    onSettled: useReread(trigger),
  });
  if (fire.data) {
    return (
      <Modal opened onClose={onClose} title={t("triggers.fired_title", { name })}>
        <div className="ms-stack">
          <p role="status">
            {t("triggers.fired_run")}{" "}
            <Link to="/runs/$run" params={{ run: fire.data.id }} search={(before) => ({ ns: before.ns })}>
              …{fire.data.id.slice(-6)}
            </Link>
          </p>
          <div className="ms-buttons">
            <Button onClick={onClose} data-autofocus>
              {t("action.close")}
            </Button>
          </div>
        </div>
      </Modal>
    );
  }
  return (
    <Confirm
      title={t("triggers.fire_title", { name })}
      text={t("triggers.fire_text", { job })}
      action={t("triggers.fire")}
      busy={fire.isPending}
      error={fire.error}
      onConfirm={() => fire.mutate()}
      onClose={onClose}
    />
  );
}
