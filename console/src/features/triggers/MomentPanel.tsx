import { ActionIcon, Button } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { useMay } from "@/app/session";
import type { Moment } from "@/components/triggers/ledger";
import { OccurrenceBadge } from "@/components/triggers/OccurrenceBadge";
import { isPlanned } from "@/components/triggers/triggers";
import { Id } from "@/components/ui/Copy";
import { RelativeTime } from "@/components/ui/Time";
import type { JobTrigger } from "@/lib/api/schema";
import { absolute, duration, millis } from "@/lib/time/format";
import { zoneOf } from "@/lib/time/zone";

interface MomentPanelProps {
  trigger: JobTrigger;
  /** Nothing when the window does not hold it. */
  moment: Moment | undefined;
  at: number;
  onClose: () => void;
  onBackfill: () => void;
  onShow: () => void;
}

/** One planned moment, opened: what became of it, why, and the run. */
export function MomentPanel({ trigger, moment, at, onClose, onBackfill, onShow }: MomentPanelProps) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const zone = useZone();
  const own = zoneOf(trigger);
  const line = moment?.line;
  const made = moment?.madeUp;
  const decidedAt = millis(line?.at);
  const run = line?.run;
  const canBackfill =
    moment && moment.face !== "planned" && isPlanned(trigger) && mayDo("backfill.start", trigger.namespace);
  return (
    <section className="ms-moment" aria-label={t("triggers.moment")}>
      <div className="ms-moment-head">
        <strong>{absolute(at, own)}</strong> <span className="ms-faint">{own}</span>
        {own !== zone && (
          <span className="ms-muted">
            {absolute(at, zone)} <span className="ms-faint">{zone}</span>
          </span>
        )}
        {moment && <OccurrenceBadge face={moment.face} />}
        <span className="ms-muted">
          <RelativeTime at={at} />
        </span>
        <span className="ms-grow" />
        {canBackfill && <Button onClick={onBackfill}>{t("triggers.backfill_moment")}</Button>}
        <ActionIcon aria-label={t("action.close")} onClick={onClose}>
          <IconX size={16} />
        </ActionIcon>
      </div>
      {!moment && (
        <p>
          {t("triggers.not_in_window")} <Button onClick={onShow}>{t("triggers.show_moment")}</Button>
        </p>
      )}
      {moment?.face === "planned" && <p className="ms-muted">{t("triggers.still_planned")}</p>}
      {line && (
        <dl className="ms-facts">
          {moment.through !== undefined && (
            <>
              <dt>{t("triggers.through")}</dt>
              <dd>
                {absolute(moment.through, own)} <span className="ms-faint">{own}</span> ·{" "}
                {moment.count ? t("triggers.moments", { count: moment.count }) : t("triggers.many")}
              </dd>
            </>
          )}
          <dt>{t("triggers.decided")}</dt>
          <dd>
            {decidedAt !== undefined && absolute(decidedAt, own)} <span className="ms-faint">{own}</span>
            {moment.lateMs !== undefined && ` · ${t("triggers.late_by", { late: duration(moment.lateMs) })}`}
          </dd>
          {line.reason && (
            <>
              <dt>{t("triggers.col.why")}</dt>
              <dd>{line.reason}</dd>
            </>
          )}
          {run && (
            <>
              <dt>{moment.face === "merged" ? t("triggers.covered_by") : t("triggers.col.run")}</dt>
              <dd>
                <RunLink run={run} />
              </dd>
            </>
          )}
          {made && (
            <>
              <dt>{t("triggers.made_up_by")}</dt>
              <dd>
                {made.run && <RunLink run={made.run} />} <RelativeTime at={made.at} />
                {made.reason && ` · ${made.reason}`}
              </dd>
            </>
          )}
          {(made?.backfill ?? line.backfill) && (
            <>
              <dt>{t("triggers.backfill_name")}</dt>
              <dd>
                <Id value={made?.backfill ?? line.backfill ?? ""} />
              </dd>
            </>
          )}
        </dl>
      )}
    </section>
  );
}

function RunLink({ run }: { run: string }) {
  return (
    <Link to="/runs/$run" params={{ run }} search={(before) => ({ ns: before.ns })} title={run}>
      …{run.slice(-6)}
    </Link>
  );
}
