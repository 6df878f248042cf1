import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { CadenceChart, type Range } from "@/components/ui/CadenceChart";
import type { JobTrigger } from "@/lib/api/schema";
import type { OccurrenceFace } from "@/lib/state/occurrence";
import { absolute, duration } from "@/lib/time/format";
import { zoneOf } from "@/lib/time/zone";
import { counts, type Moment, medianLate } from "./ledger";

interface LedgerChartProps {
  trigger: JobTrigger;
  moments: Moment[];
  span: Range;
  now: number;
  only?: OccurrenceFace | undefined;
  chosen?: number | undefined;
  brush?: Range | undefined;
  height?: number;
  onPick?: (moment: Moment) => void;
  onBrush?: (range: Range | undefined) => void;
  onZoom?: (range: Range) => void;
}

/** The ledger of a trigger as a picture, in the trigger's zone. */
export function LedgerChart(props: LedgerChartProps) {
  const { t } = useTranslation();
  const { trigger, moments, span, onPick } = props;
  const zone = zoneOf(trigger);
  const marks = useMemo(
    () =>
      moments
        .filter((moment) => (moment.through ?? moment.planned) >= span.from && moment.planned <= span.until)
        .map((moment) => ({
          at: moment.planned,
          through: moment.through,
          count: moment.count,
          face: moment.face,
          lateMs: moment.lateMs,
          label: [
            absolute(moment.planned, zone),
            t(`occurrence.${moment.face}`),
            moment.count !== 1 && (moment.count ? `×${moment.count}` : t("triggers.many")),
            moment.lateMs !== undefined && t("triggers.late_by", { late: duration(moment.lateMs) }),
          ]
            .filter(Boolean)
            .join(" · "),
        })),
    [moments, span.from, span.until, zone, t],
  );
  const found = counts(moments);
  const late = medianLate(moments);
  const summary = [...found].map(([face, { count }]) => `${t(`occurrence.${face}`)} ${count}`).join(", ");
  return (
    <CadenceChart
      label={t("triggers.chart", {
        name: trigger.name,
        summary:
          late === undefined ? summary : `${summary}, ${t("triggers.median", { late: duration(late) })}`,
      })}
      marks={marks}
      from={span.from}
      until={span.until}
      zone={zone}
      now={props.now}
      nowLabel={t("triggers.now")}
      wordOf={(face) => t(`occurrence.${face}`)}
      only={props.only}
      chosen={props.chosen}
      brush={props.brush}
      {...(props.height ? { height: props.height } : {})}
      {...(props.onBrush ? { onBrush: props.onBrush } : {})}
      {...(props.onZoom ? { onZoom: props.onZoom } : {})}
      onPick={(mark) => {
        const moment = moments.find((each) => each.planned === mark.at && each.face === mark.face);
        if (moment) onPick?.(moment);
      }}
    />
  );
}
