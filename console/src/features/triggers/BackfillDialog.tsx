import { Button, Modal, NumberInput, SegmentedControl } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Range } from "@/components/ui/CadenceChart";
import { CopyAs } from "@/components/ui/Copy";
import { MomentField } from "@/components/ui/MomentField";
import { call, newId } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";
import type { BackfillOrder, JobTrigger, Reprocess } from "@/lib/api/schema";
import { apiCommand, cli } from "@/lib/commands";
import { millis } from "@/lib/time/format";
import { zoneOf } from "@/lib/time/zone";
import { countOf, type PlanRequest, usePlan } from "./backfillPlan";
import { PlanTable } from "./PlanTable";
import { useReread } from "./useResume";

interface BackfillDialogProps {
  trigger: JobTrigger;
  /** The moments that were chosen in the chart. */
  range: Range | undefined;
  onStarted: () => void;
  onClose: () => void;
}

const DAY_MS = 86_400_000;
const ACTIVE_MAX = 100;
const iso = (at: number) => new Date(at).toISOString();

/** Which moments, what becomes of each, and how many at once: a dry run first, then the backfill. */
export function BackfillDialog({ trigger, range, onStarted, onClose }: BackfillDialogProps) {
  const { t } = useTranslation();
  const zone = zoneOf(trigger);
  const { namespace, job_name: job, name } = trigger;
  const [from, setFrom] = useState<number | undefined>(
    () => range?.from ?? Math.floor(((millis(trigger.cursor) ?? Date.now()) - DAY_MS) / 1000) * 1000,
  );
  // The range of the server ends before `until`: the last moment that was chosen belongs to it.
  const [until, setUntil] = useState<number | undefined>(() =>
    range ? Math.floor(range.until / 1000) * 1000 + 1000 : undefined,
  );
  const [reprocess, setReprocess] = useState<Reprocess>("none");
  const [order, setOrder] = useState<BackfillOrder>("oldest");
  const [active, setActive] = useState(1);
  // One id for the dialog: a repeated request after a lost answer is the same backfill.
  const [id] = useState(() => newId("bf"));
  const isBackwards = from !== undefined && until !== undefined && until <= from;
  const request: PlanRequest | undefined =
    from === undefined || isBackwards
      ? undefined
      : { from: iso(from), until: until === undefined ? undefined : iso(until), order, reprocess };
  const plan = usePlan(trigger, request);
  const body = request && {
    from: request.from,
    ...(request.until ? { until: request.until } : {}),
    order,
    reprocess,
    max_active: active,
  };
  const start = useMutation({
    mutationFn: async () => {
      if (!body) throw new Error("no range");
      return call("backfill_start", {
        path: { job, trigger: name },
        query: { namespace },
        body: { ...body, id },
      });
    },
    onSuccess: () => {
      onStarted();
      onClose();
    },
    onSettled: useReread(trigger),
  });
  const error = start.error ?? plan.error;
  const told = error ? explain(error, t) : undefined;
  const count = plan.data && !plan.error ? countOf(plan.data) : undefined;
  const isReady = count !== undefined && count.made > 0 && !plan.isPlaceholderData && active >= 1;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !start.isPending) start.mutate();
  };
  const where = namespace === "default" ? [] : ["-n", namespace];
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={t("triggers.backfill_title", { name })}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <form className="ms-stack" onSubmit={submit}>
        <div className="ms-fields">
          <MomentField
            label={t("triggers.from")}
            zone={zone}
            value={from}
            required
            isFirst
            onChange={setFrom}
          />
          <MomentField
            label={t("triggers.until")}
            zone={zone}
            value={until}
            description={until === undefined ? t("triggers.until_now") : undefined}
            error={isBackwards ? t("triggers.until_after_from") : undefined}
            onChange={setUntil}
          />
        </div>
        <Choice label={t("triggers.reprocess.label")}>
          <SegmentedControl
            aria-label={t("triggers.reprocess.label")}
            value={reprocess}
            data={(["none", "failed", "all"] as const).map((value) => ({
              value,
              label: t(`triggers.reprocess.${value}`),
            }))}
            onChange={setReprocess}
          />
        </Choice>
        <div className="ms-fields">
          <Choice label={t("triggers.order")}>
            <SegmentedControl
              aria-label={t("triggers.order")}
              value={order}
              data={(["oldest", "newest"] as const).map((value) => ({
                value,
                label: t(`backfills.order.${value}`),
              }))}
              onChange={setOrder}
            />
          </Choice>
          <NumberInput
            size="sm"
            label={t("triggers.max_active")}
            value={active}
            min={1}
            max={ACTIVE_MAX}
            clampBehavior="strict"
            allowDecimal={false}
            onChange={(value) => setActive(Number(value) || 0)}
          />
        </div>
        {told && (
          <p className="ms-error" role="alert">
            {told.title} {told.text} <span className="ms-faint">{told.note}</span>
          </p>
        )}
        {request && !plan.error && (
          <PlanTable plan={plan.data} zone={zone} isStale={plan.isPlaceholderData} />
        )}
        <div className="ms-buttons">
          {body && (
            <CopyAs
              items={[
                {
                  label: t("triggers.copy_backfill_cli"),
                  text: cli(
                    "backfill",
                    "start",
                    ...where,
                    "--from",
                    body.from,
                    ...(body.until ? ["--until", body.until] : []),
                    ...(order === "oldest" ? [] : ["--order", order]),
                    ...(reprocess === "none" ? [] : ["--reprocess", reprocess]),
                    ...(active === 1 ? [] : ["--max-active", String(active)]),
                    job,
                    name,
                  ),
                },
                {
                  label: t("triggers.copy_backfill_http"),
                  text: apiCommand("backfill_start", { job, trigger: name }, { namespace }, body),
                },
              ]}
            />
          )}
          <span className="ms-grow" />
          <Button onClick={onClose}>{t("action.close")}</Button>
          <Button type="submit" variant="filled" disabled={!isReady} loading={start.isPending}>
            {count === undefined
              ? t("triggers.backfill")
              : t("triggers.backfill_count", {
                  count: count.made,
                  most: count.isExact ? "" : t("triggers.most"),
                })}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function Choice({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="ms-choice">
      <span className="ms-choice-label" aria-hidden>
        {label}
      </span>
      {children}
    </div>
  );
}
