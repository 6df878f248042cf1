import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { triggerRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { LedgerChart } from "@/components/triggers/LedgerChart";
import { Legend } from "@/components/triggers/Legend";
import { type Moment, medianLate, windowOf } from "@/components/triggers/ledger";
import { isPlanned } from "@/components/triggers/triggers";
import { spanOf, useComing, useLedger } from "@/components/triggers/useLedger";
import type { Range } from "@/components/ui/CadenceChart";
import { MARKS_MAX } from "@/components/ui/cadence";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import type { JobTrigger } from "@/lib/api/schema";
import { absolute, duration, millis } from "@/lib/time/format";
import { zoneOf } from "@/lib/time/zone";
import { LedgerTable } from "./LedgerTable";
import { MomentPanel } from "./MomentPanel";
import { WindowBar } from "./WindowBar";

interface LedgerProps {
  trigger: JobTrigger;
  brush: Range | undefined;
  onBrush: (range: Range | undefined) => void;
  /** What stands beside the table. */
  children: ReactNode;
}

/** What became of each planned moment: as a picture, with a table below it. */
export function Ledger({ trigger, brush, onBrush, children }: LedgerProps) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const navigate = useNavigate({ from: "/jobs/$job/triggers/$trigger" });
  const search = triggerRoute.useSearch();
  const zone = zoneOf(trigger);
  // The window stands still until it is asked for anew: what is looked at does not move.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another revision is another look.
  const now = useMemo(() => Date.now(), [search.from, search.until, trigger.revision]);
  const window = useMemo(
    () => windowOf({ from: search.from, until: search.until }, Math.floor(now / 60_000) * 60_000),
    [search.from, search.until, now],
  );
  const preview = useComing(trigger);
  const coming = useMemo(() => {
    const all = (preview.data?.moments ?? []).flatMap((moment) => millis(moment.at) ?? []);
    const shown = window.from === undefined ? all.slice(0, 5) : all;
    return shown.filter((at) =>
      window.until === undefined ? window.from === undefined || at <= now : at <= window.until,
    );
  }, [preview.data, window, now]);
  const { query, moments, cutAt } = useLedger(trigger, window, coming);
  const span = useMemo(() => spanOf(window, moments ?? [], now), [window, moments, now]);
  const at = millis(search.at);
  const change = (next: Partial<typeof search>, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace });
  const open = (moment: Moment | undefined) =>
    change({ at: moment ? new Date(moment.planned).toISOString() : undefined }, true);
  const chosen = moments?.find((moment) => moment.planned === at);
  const late = medianLate(moments ?? []);
  const hasPast =
    brush &&
    moments?.some(
      (each) =>
        each.face !== "planned" &&
        (each.through ?? each.planned) >= brush.from &&
        each.planned <= brush.until,
    );
  if (query.error && !moments) {
    return <ErrorFace error={query.error} onRetry={() => void query.refetch()} />;
  }
  if (!moments) return <TableSkeleton />;
  const isMany = moments.length > MARKS_MAX;
  const isEmpty = moments.length === 0;
  return (
    <>
      <section className="ms-panel ms-ledger" aria-label={t("triggers.ledger")}>
        <div className="ms-ledger-head">
          <h2>{t("triggers.ledger")}</h2>
          {late !== undefined && (
            <span className="ms-faint">{t("triggers.median", { late: duration(late) })}</span>
          )}
          <span className="ms-grow" />
          <WindowBar
            search={search}
            span={span}
            onChange={(from, until) => change({ from, until, at: undefined })}
          />
        </div>
        {isEmpty ? (
          <Face
            kind="empty"
            title={search.from || search.until ? t("triggers.none_in_window") : t("triggers.never")}
            text={search.from || search.until ? undefined : t("triggers.never_text")}
          >
            {(search.from || search.until) && (
              <Button onClick={() => change({ from: undefined, until: undefined })}>
                {t("triggers.window.newest")}
              </Button>
            )}
          </Face>
        ) : (
          <LedgerChart
            trigger={trigger}
            moments={moments}
            span={span}
            now={now}
            only={search.outcome}
            chosen={at}
            brush={brush}
            onPick={open}
            onZoom={(range) =>
              change({ from: new Date(range.from).toISOString(), until: new Date(range.until).toISOString() })
            }
            {...(isPlanned(trigger) ? { onBrush } : {})}
          />
        )}
        <div className="ms-ledger-foot">
          <Legend moments={moments} only={search.outcome} onChoose={(outcome) => change({ outcome }, true)} />
          <span className="ms-grow" />
          <span className="ms-faint">
            {isMany ? t("triggers.axis_counts", { zone }) : t("triggers.axis_zone", { zone })}
          </span>
        </div>
        {cutAt !== undefined && (
          <p className="ms-muted">{t("triggers.cut", { at: `${absolute(cutAt, zone)} ${zone}` })}</p>
        )}
        {brush && (
          <div className="ms-brush" role="status">
            <span>
              {t("triggers.brushed")} {absolute(brush.from, zone)} – {absolute(brush.until, zone)}{" "}
              <span className="ms-faint">{zone}</span>
            </span>
            <span className="ms-grow" />
            {mayDo("backfill.start", trigger.namespace) && hasPast && (
              <Button variant="filled" onClick={() => change({ do: "backfill" })}>
                {t("triggers.backfill_range")}
              </Button>
            )}
            <Button onClick={() => onBrush(undefined)}>{t("triggers.clear_range")}</Button>
          </div>
        )}
        {at !== undefined && (
          <MomentPanel
            trigger={trigger}
            moment={chosen}
            at={at}
            onClose={() => open(undefined)}
            onBackfill={() => {
              onBrush({ from: at, until: at });
              change({ do: "backfill" });
            }}
            onShow={() =>
              change({
                from: new Date(at - 43_200_000).toISOString(),
                until: new Date(at + 43_200_000).toISOString(),
              })
            }
          />
        )}
      </section>
      <div className="ms-ledger-split">
        <LedgerTable
          trigger={trigger}
          moments={moments}
          only={search.outcome}
          onOpen={open}
          onClear={() => change({ outcome: undefined }, true)}
        />
        <aside className="ms-ledger-side">{children}</aside>
      </div>
    </>
  );
}
