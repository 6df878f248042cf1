import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "@/app/session";
import { Confirm } from "@/components/ui/Confirm";
import { Id } from "@/components/ui/Copy";
import { barColour, toneStyle } from "@/components/ui/StateBadge";
import { RelativeTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import type { Backfill } from "@/lib/api/schema";
import { absolute, millis } from "@/lib/time/format";
import { BACKFILL_TONES, isActive, partsOf, shareOf } from "./backfills";
import "./triggers.css";

export interface BackfillPlace {
  namespace: string;
  job: string;
  trigger: string;
}

interface BackfillItemProps extends BackfillPlace {
  backfill: Backfill;
  zone: string;
  /** What stands before it, such as a link to its trigger. */
  children?: ReactNode;
}

/** A backfill: its range, how far it got, what became of its runs, and Stop. */
export function BackfillItem({ backfill, zone, namespace, job, trigger, children }: BackfillItemProps) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const stop = useMutation({
    mutationFn: () =>
      call("backfill_stop", { path: { job, trigger, backfill: backfill.id }, query: { namespace } }),
    onSuccess: () => setAsked(false),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["trigger", namespace, job, trigger] }),
        client.invalidateQueries({ queryKey: ["backfills"] }),
      ]),
  });
  const parts = partsOf(backfill).filter((part) => part.count > 0);
  const share = shareOf(backfill);
  const at = (text: string) => absolute(millis(text) ?? 0, zone);
  const isStopping = backfill.state === "finishing" && backfill.stopped_by;
  return (
    <article className="ms-backfill" aria-label={t("backfills.one", { id: backfill.id })}>
      <div className="ms-backfill-head">
        <span className="ms-badge" style={toneStyle(BACKFILL_TONES[backfill.state])}>
          {isStopping ? t("backfills.stopping") : t(`backfills.state.${backfill.state}`)}
        </span>
        {children}
        <span className="ms-faint">
          <Id value={backfill.id} />
        </span>
        <span className="ms-grow" />
        {backfill.state === "running" && !backfill.stopped_by && mayDo("backfill.stop", namespace) && (
          <Button onClick={() => setAsked(true)}>{t("backfills.stop")}</Button>
        )}
      </div>
      <div>
        {at(backfill.from)} – {at(backfill.until)} <span className="ms-faint">{zone}</span>
      </div>
      <div
        className="ms-stack-bar"
        role="progressbar"
        aria-label={t("backfills.progress")}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
      >
        {parts.map((part) => (
          <span
            key={part.name}
            style={{
              width: `${(share * 100 * part.count) / Math.max(1, backfill.made)}%`,
              background: barColour(part.tone),
            }}
          />
        ))}
      </div>
      <div className="ms-muted">
        {[
          t("backfills.made", { count: backfill.made }),
          ...parts.map((part) => t(`backfills.part.${part.name}`, { count: part.count })),
          backfill.left > 0 && t("backfills.left", { count: backfill.left }),
          backfill.refused > 0 && t("backfills.refused", { count: backfill.refused }),
        ]
          .filter(Boolean)
          .join(" · ")}
        {isActive(backfill) && backfill.state === "running" && ` · ${Math.round(share * 100)} %`}
      </div>
      <div className="ms-faint ms-inline">
        {t("backfills.by", { by: backfill.by })} <RelativeTime at={backfill.at} /> ·{" "}
        {t(`backfills.order.${backfill.order}`)} · {t("backfills.at_a_time", { count: backfill.max_active })}
        {backfill.stopped_by && ` · ${t("backfills.stopped_by", { by: backfill.stopped_by })}`}
        {backfill.active.length > 0 && (
          <>
            {" · "}
            {backfill.active.slice(0, 3).map((run) => (
              <span key={run}>
                <Link to="/runs/$run" params={{ run }} search={(before) => ({ ns: before.ns })}>
                  …{run.slice(-6)}
                </Link>{" "}
              </span>
            ))}
          </>
        )}
      </div>
      {isAsked && (
        <Confirm
          title={t("backfills.stop_title", { trigger })}
          text={t("backfills.stop_text")}
          action={t("backfills.stop")}
          keep={t("backfills.keep")}
          danger
          busy={stop.isPending}
          error={stop.error}
          onConfirm={() => stop.mutate()}
          onClose={() => setAsked(false)}
        />
      )}
    </article>
  );
}
