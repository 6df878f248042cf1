import { Button, Modal, Switch } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { ParamForm } from "@/components/ui/ParamForm";
import { fieldsOf, fromTexts, toTexts } from "@/components/ui/params";
import { call, newKey } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";
import type { Job } from "@/lib/api/schema";

/** One run of the job now, with a form of its typed parameters. */
export function RunNow({ job, onClose }: { job: Job; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const fields = fieldsOf(job.spec?.parameters ?? {});
  const [texts, setTexts] = useState(() => toTexts(fields, {}));
  const [force, setForce] = useState(false);
  // One key for the dialog: a second click, or a repeated request after a lost answer, is the same run.
  const [key] = useState(newKey);
  const read = fromTexts(fields, texts);
  const make = useMutation({
    mutationFn: () =>
      call("run_submit", {
        body: { job: job.name, namespace: job.namespace, params: read.params, force },
        idempotencyKey: key,
      }),
    onSuccess: (made) =>
      void navigate({ to: "/runs/$run", params: { run: made.id }, search: (before) => ({ ns: before.ns }) }),
  });
  const told = make.error ? explain(make.error, t) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(read.problems).length === 0) make.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("jobs.run_title", { name: job.name })}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <form className="ms-stack" onSubmit={submit}>
        <ParamForm fields={fields} texts={texts} problems={read.problems} onChange={setTexts} />
        <Switch
          label={t("jobs.force")}
          description={t("jobs.force_text")}
          checked={force}
          onChange={(event) => setForce(event.currentTarget.checked)}
        />
        {told && (
          <p className="ms-error" role="alert">
            {told.title} {told.text} <span className="ms-faint">{told.note}</span>
          </p>
        )}
        <div className="ms-buttons">
          <Button onClick={onClose}>{t("action.close")}</Button>
          <Button
            type="submit"
            variant="filled"
            loading={make.isPending}
            data-autofocus={fields.length === 0 || undefined}
          >
            {t("jobs.run_now")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
