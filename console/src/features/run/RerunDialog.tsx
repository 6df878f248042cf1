import { Button, Modal, Switch } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { ParamForm } from "@/components/ui/ParamForm";
import { fieldsOf, fromTexts, toTexts } from "@/components/ui/params";
import { call, newKey } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";
import type { Run } from "@/lib/api/schema";

/** The same run again, with other parameters. */
export function RerunDialog({ run, error, onClose }: { run: Run; error?: unknown; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const spec = useQuery({
    queryKey: ["run", run.id, "spec"],
    queryFn: ({ signal }) => call("run_spec", { path: { run: run.id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const fields = fieldsOf(spec.data?.parameters ?? {});
  const [texts, setTexts] = useState<Record<string, string>>();
  const [latest, setLatest] = useState(false);
  const values = texts ?? toTexts(fields, (run.params as Record<string, unknown>) ?? {});
  const read = fromTexts(fields, values);
  const make = useMutation({
    mutationFn: () =>
      call("run_rerun", {
        path: { run: run.id },
        body: { latest, params: fields.length ? read.params : undefined },
        idempotencyKey: newKey(),
      }),
    onSuccess: (made) => {
      onClose();
      void navigate({ to: "/runs/$run", params: { run: made.id }, search: (before) => ({ ns: before.ns }) });
    },
  });
  const failure = make.error ?? error;
  const told = failure ? explain(failure, t) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(read.problems).length === 0) make.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("run.rerun.title")}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <form className="ms-stack" onSubmit={submit}>
        {spec.data && fields.length === 0 && <p className="ms-muted">{t("run.rerun.no_params")}</p>}
        <ParamForm fields={fields} texts={values} problems={read.problems} onChange={setTexts} />
        {!run.ad_hoc && (
          <Switch
            label={t("run.rerun.latest")}
            checked={latest}
            onChange={(event) => setLatest(event.currentTarget.checked)}
          />
        )}
        {told && (
          <p className="ms-error" role="alert">
            {told.title} {told.text} <span className="ms-faint">{told.note}</span>
          </p>
        )}
        <div className="ms-buttons">
          <Button onClick={onClose}>{t("action.close")}</Button>
          <Button type="submit" variant="filled" loading={make.isPending} data-autofocus>
            {t("run.action.rerun")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
