import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Cell, Node, OccurrenceCounts, StatsTotals } from "@/lib/api/schema";
import { nodeFace } from "@/lib/state/node";
import { duration } from "@/lib/time/format";

interface FiguresProps {
  total: StatsTotals | undefined;
  today: OccurrenceCounts | undefined;
  cells: Cell[] | undefined;
  nodes: Node[] | undefined;
  window: string;
  ns: string | undefined;
}

const sum = (cells: Cell[] | undefined, key: "running" | "waiting") => {
  if (!cells || cells.some((cell) => cell[key] === undefined || cell[key] === null)) return undefined;
  return cells.reduce((all, cell) => all + (cell[key] ?? 0), 0);
};

/** The numbers of now and of the window. What is not known is a dash, never 0. */
export function Figures({ total, today, cells, nodes, window, ns }: FiguresProps) {
  const { t, i18n } = useTranslation();
  const number = (value: number | undefined) =>
    value === undefined ? "–" : new Intl.NumberFormat(i18n.language).format(value);
  const created = `created>-${window}`;
  const runs = (q: string, text: string) => (
    <Link to="/runs" search={{ q, ns }}>
      {text}
    </Link>
  );
  return (
    <div className="ms-figures">
      {cells && !ns && (
        <Figure name={t("overview.running")} value={runs("state:running", number(sum(cells, "running")))} />
      )}
      {cells && !ns && (
        <Figure name={t("overview.waiting")} value={runs("state:waiting", number(sum(cells, "waiting")))} />
      )}
      {nodes && (
        <Figure
          name={t("overview.nodes_up")}
          value={
            <Link
              to="/nodes"
              search={{}}
            >{`${nodes.filter((node) => nodeFace(node) === "up").length}/${nodes.filter((node) => nodeFace(node) !== "left").length}`}</Link>
          }
        />
      )}
      {(["planned_today", "ran_today", "late_today", "missed_today"] as const).map((name) => (
        <Figure
          key={name}
          name={t(`overview.${name}`)}
          value={today ? `${today.partial ? "≥ " : ""}${number(ofToday(today)[name])}` : number(undefined)}
          isBad={name === "missed_today" && Boolean(today?.missed)}
        />
      ))}
      <Figure name={t("overview.success")} value={runs(`state:success ${created}`, number(total?.success))} />
      <Figure
        name={t("overview.failed")}
        value={runs(`state:final_failed ${created}`, number(total?.final_failed))}
        isBad={Boolean(total?.final_failed)}
      />
      <Figure
        name={t("overview.cancelled")}
        value={runs(`state:cancelled ${created}`, number(total?.cancelled))}
      />
      <Figure name={t("overview.queue_mean")} value={total ? duration(total.queued_ms_mean) : "–"} />
      <Figure name={t("overview.run_mean")} value={total ? duration(total.running_ms_mean) : "–"} />
    </div>
  );
}

function Figure({ name, value, isBad }: { name: string; value: ReactNode; isBad?: boolean }) {
  return (
    <div className="ms-figure" data-bad={isBad || undefined}>
      <span>{name}</span>
      <strong>{value}</strong>
    </div>
  );
}

/** What became of the moments that were planned for today, so far. */
const ofToday = ({ fired, merged, skipped, missed, late }: OccurrenceCounts) => ({
  planned_today: fired + merged + skipped + missed,
  ran_today: fired,
  late_today: late,
  missed_today: missed,
});
