import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { barColour } from "@/components/ui/StateBadge";
import { HOUR_MS, type HourCount } from "@/lib/stats";
import { shortTime } from "@/lib/time/format";

const HEIGHT = 120;
const STATES = ["success", "skipped", "cancelled", "final_failed"] as const;

interface EndedChartProps {
  series: HourCount[];
  ns: string | undefined;
  isTruncated: boolean;
}

/** Ended runs by hour and state; a bar opens its runs. */
export function EndedChart({ series, ns, isTruncated }: EndedChartProps) {
  const { t } = useTranslation();
  const zone = useZone();
  const navigate = useNavigate();
  const totals = series.map((hour) => STATES.reduce((all, state) => all + hour[state], 0));
  const most = Math.max(1, ...totals);
  const now = Date.now();
  const open = (hour: HourCount) => {
    const [from, until] = [hour.hour, hour.hour + HOUR_MS].map((at) => new Date(at).toISOString());
    void navigate({ to: "/runs", search: { q: `state:ended created>=${from} created<${until}`, ns } });
  };
  return (
    <section className="ms-panel ms-chart" aria-label={t("overview.ended")}>
      <h2>
        {t("overview.ended")} <span className="ms-faint">{t("overview.most", { count: most })}</span>
      </h2>
      <svg
        role="img"
        aria-label={t("overview.ended_summary", { count: totals.reduce((a, b) => a + b, 0), most })}
        viewBox={`0 0 ${series.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        height={HEIGHT}
        width="100%"
      >
        {series.map((hour, index) => {
          let top = HEIGHT;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the same runs are reached by the query; the picture is a short cut.
            <g key={hour.hour} onClick={() => open(hour)} className="ms-chart-bar">
              <title>{`${shortTime(hour.hour, now, zone)}: ${STATES.map((state) => `${t(`state.${state}`)} ${hour[state]}`).join(", ")}`}</title>
              <rect x={index * 10} width={10} y={0} height={HEIGHT} fill="transparent" />
              {STATES.map((state) => {
                const height = (hour[state] / most) * (HEIGHT - 4);
                top -= height;
                return (
                  <rect
                    key={state}
                    x={index * 10 + 1}
                    width={8}
                    y={top}
                    height={height}
                    style={{ fill: barColour(state) }}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <div className="ms-chart-axis">
        <span>{shortTime(series[0]?.hour ?? now, now, zone)}</span>
        <span>
          {shortTime(now, now, zone)} <span className="ms-faint">{zone}</span>
        </span>
      </div>
      {isTruncated && <p className="ms-muted">{t("overview.truncated")}</p>}
    </section>
  );
}
