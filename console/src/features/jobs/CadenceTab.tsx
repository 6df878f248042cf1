import { Button, SegmentedControl } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { jobRoute } from "@/app/router";
import { LedgerChart } from "@/components/triggers/LedgerChart";
import { Legend } from "@/components/triggers/Legend";
import { medianLate, windowOf } from "@/components/triggers/ledger";
import { TriggerBadge } from "@/components/triggers/TriggerBadge";
import { inWords } from "@/components/triggers/triggers";
import { spanOf, useLedger } from "@/components/triggers/useLedger";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import type { JobTrigger } from "@/lib/api/schema";
import { duration } from "@/lib/time/format";

/** Triggers that are drawn at once: each is a request of its own. */
const SHOWN = 4;
const WINDOWS = ["24h", "7d", "30d"] as const;

/** What each trigger of the job planned against what became of it, over the same stretch of time. */
export function CadenceTab({ triggers }: { triggers: JobTrigger[] | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/jobs/$job" });
  const { window: chosen } = jobRoute.useSearch();
  const [shown, setShown] = useState(SHOWN);
  const value = chosen ?? "7d";
  // biome-ignore lint/correctness/useExhaustiveDependencies: another window is another look.
  const now = useMemo(() => Date.now(), [value]);
  const window = useMemo(
    () => windowOf({ from: `-${value}` }, Math.floor(now / 60_000) * 60_000),
    [value, now],
  );
  if (!triggers) return <TableSkeleton />;
  if (triggers.length === 0) return <Face kind="empty" title={t("jobs.no_triggers")} />;
  return (
    <div className="ms-triggers">
      <SegmentedControl
        className="ms-cadence-window"
        aria-label={t("triggers.window.label")}
        value={value}
        data={WINDOWS.map((each) => ({ value: each, label: t(`triggers.window.${each}`) }))}
        onChange={(next) =>
          void navigate({
            search: (before) => ({ ...before, window: next === "7d" ? undefined : (next as "24h") }),
            replace: true,
          })
        }
      />
      {triggers.slice(0, shown).map((trigger) => (
        <TriggerCadence key={trigger.name} trigger={trigger} window={window} now={now} />
      ))}
      {triggers.length > shown && (
        <Button onClick={() => setShown(shown + SHOWN)}>
          {t("jobs.more_triggers", { count: triggers.length - shown })}
        </Button>
      )}
    </div>
  );
}

interface TriggerCadenceProps {
  trigger: JobTrigger;
  window: ReturnType<typeof windowOf>;
  now: number;
}

const NOTHING: number[] = [];

function TriggerCadence({ trigger, window, now }: TriggerCadenceProps) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const { query, moments, cutAt } = useLedger(trigger, window, NOTHING);
  const { namespace, job_name: job, name } = trigger;
  const late = medianLate(moments ?? []);
  const open = (search: { at?: string; from?: string; until?: string }) =>
    void navigate({
      to: "/jobs/$job/triggers/$trigger",
      params: { job, trigger: name },
      search: { ns: namespace, ...search },
    });
  const iso = (at: number) => new Date(at).toISOString();
  return (
    <section className="ms-panel" aria-label={name}>
      <div className="ms-trigger-head">
        <Link to="/jobs/$job/triggers/$trigger" params={{ job, trigger: name }} search={{ ns: namespace }}>
          <strong>{name}</strong>
        </Link>
        <TriggerBadge trigger={trigger} />
        <span>{inWords(trigger, i18n.language)}</span>
        {late !== undefined && (
          <span className="ms-faint">{t("triggers.median", { late: duration(late) })}</span>
        )}
      </div>
      {query.error && !moments ? (
        <ErrorFace error={query.error} onRetry={() => void query.refetch()} />
      ) : !moments ? (
        <TableSkeleton />
      ) : moments.length === 0 ? (
        <p className="ms-muted">{t("triggers.none_in_window")}</p>
      ) : (
        <>
          <LedgerChart
            trigger={trigger}
            moments={moments}
            span={spanOf(window, moments, now)}
            now={now}
            height={150}
            onPick={(moment) => open({ at: iso(moment.planned) })}
            onZoom={(range) => open({ from: iso(range.from), until: iso(range.until) })}
          />
          <Legend moments={moments} only={undefined} />
          {cutAt !== undefined && <p className="ms-muted">{t("jobs.cadence_cut")}</p>}
        </>
      )}
    </section>
  );
}
