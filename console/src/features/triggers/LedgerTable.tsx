import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { type CSSProperties, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Moment } from "@/components/triggers/ledger";
import { OccurrenceBadge } from "@/components/triggers/OccurrenceBadge";
import { type Column, DataTable } from "@/components/ui/DataTable";
import type { ExportFields } from "@/components/ui/exports";
import { Face } from "@/components/ui/Face";
import type { JobTrigger } from "@/lib/api/schema";
import type { OccurrenceFace } from "@/lib/state/occurrence";
import { absolute, duration, UNKNOWN } from "@/lib/time/format";
import { zoneOf } from "@/lib/time/zone";

interface LedgerTableProps {
  trigger: JobTrigger;
  moments: Moment[];
  only: OccurrenceFace | undefined;
  onOpen: (moment: Moment) => void;
  onClear: () => void;
}

/** The same moments as rows, the newest first. */
export function LedgerTable({ trigger, moments, only, onOpen, onClear }: LedgerTableProps) {
  const { t } = useTranslation();
  const zone = zoneOf(trigger);
  const rows = useMemo(
    () => moments.filter((moment) => (only ? moment.face === only : moment.face !== "planned")).reverse(),
    [moments, only],
  );
  const columns = useMemo(() => columnsOf(t, zone, onOpen), [t, zone, onOpen]);
  if (rows.length === 0) {
    return only ? (
      <Face kind="empty" title={t("triggers.no_match", { outcome: t(`occurrence.${only}`) })}>
        <Button onClick={onClear}>{t("triggers.clear_filter")}</Button>
      </Face>
    ) : (
      <Face kind="empty" title={t("triggers.no_rows")} />
    );
  }
  return (
    <div className="ms-ledger-table" style={{ "--rows": rows.length } as CSSProperties}>
      <DataTable
        label={t("triggers.ledger")}
        columns={columns}
        rows={rows}
        idOf={(moment) => `${moment.planned} ${moment.line?.backfill ?? ""} ${moment.through ?? ""}`}
        onOpen={onOpen}
        exportAs={EXPORT}
      />
    </div>
  );
}

const EXPORT: { name: string; fields: ExportFields<Moment> } = {
  name: "ledger",
  fields: {
    planned: (moment) => new Date(moment.planned).toISOString(),
    through: (moment) => moment.through && new Date(moment.through).toISOString(),
    count: (moment) => moment.count,
    outcome: (moment) => moment.face,
    late_ms: (moment) => moment.lateMs,
    run: (moment) => runOf(moment),
  },
};

const runOf = (moment: Moment) => moment.madeUp?.run ?? moment.line?.run;

function columnsOf(t: TFunction, zone: string, onOpen: (moment: Moment) => void): Column<Moment>[] {
  return [
    {
      id: "planned",
      label: `${t("triggers.col.planned")} (${zone})`,
      width: "minmax(168px, 1fr)",
      phone: 1,
      cell: (moment) => (
        <button type="button" className="ms-link" onClick={() => onOpen(moment)}>
          {absolute(moment.planned, zone)}
        </button>
      ),
    },
    {
      id: "outcome",
      label: t("triggers.col.outcome"),
      width: "124px",
      phone: 1,
      cell: (moment) => (
        <>
          <OccurrenceBadge face={moment.face} />
          {moment.count !== 1 && (
            <span className="ms-faint"> {moment.count ? `×${moment.count}` : t("triggers.many")}</span>
          )}
        </>
      ),
    },
    {
      id: "late",
      label: t("triggers.col.late"),
      width: "84px",
      align: "end",
      phone: 2,
      cell: (moment) => (moment.lateMs === undefined ? UNKNOWN : `+${duration(moment.lateMs)}`),
    },
    {
      id: "run",
      label: t("triggers.col.run"),
      width: "92px",
      phone: 2,
      cell: (moment) => {
        const run = runOf(moment);
        if (!run) return UNKNOWN;
        return (
          <Link to="/runs/$run" params={{ run }} search={(before) => ({ ns: before.ns })} title={run}>
            …{run.slice(-6)}
          </Link>
        );
      },
    },
    {
      id: "why",
      label: t("triggers.col.why"),
      width: "minmax(120px, 1.6fr)",
      phone: 2,
      cell: (moment) => (
        <span title={moment.line?.reason}>
          {moment.line?.reason || (moment.face === "made_up" ? t("triggers.by_backfill") : UNKNOWN)}
        </span>
      ),
    },
  ];
}
