import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import type { Step } from "@/lib/series";
import { shortTime } from "@/lib/time/format";
import { barColour } from "./StateBadge";
import "./charts.css";

const HEIGHT = 120;
const STATES = ["success", "skipped", "cancelled", "final_failed"] as const;

interface EndsChartProps {
  steps: Step[];
  onOpen?: (step: Step) => void;
}

export const mostIn = (steps: Step[]) =>
  Math.max(1, ...steps.map((step) => STATES.reduce((all, state) => all + step[state], 0)));

/** Ended runs by step and state. */
export function EndsChart({ steps, onOpen }: EndsChartProps) {
  const { t } = useTranslation();
  const zone = useZone();
  const most = mostIn(steps);
  const now = Date.now();
  const count = steps.reduce((all, step) => all + STATES.reduce((sum, state) => sum + step[state], 0), 0);
  return (
    <>
      <svg
        role="img"
        aria-label={t("chart.ended_summary", { count, most })}
        viewBox={`0 0 ${Math.max(1, steps.length) * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        height={HEIGHT}
        width="100%"
      >
        {steps.map((step, index) => {
          let top = HEIGHT;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the same runs are reached by the query; the picture is a short cut.
            <g
              key={step.at}
              onClick={onOpen && (() => onOpen(step))}
              className="ms-chart-bar"
              data-opens={onOpen ? true : undefined}
            >
              <title>{`${shortTime(step.at, now, zone)}: ${STATES.map((state) => `${t(`state.${state}`)} ${step[state]}`).join(", ")}`}</title>
              <rect x={index * 10} width={10} y={0} height={HEIGHT} fill="transparent" />
              {STATES.map((state) => {
                const height = (step[state] / most) * (HEIGHT - 4);
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
      <StepAxis steps={steps} />
    </>
  );
}

/** From when until when the steps go, in the reader's zone. */
export function StepAxis({ steps }: { steps: Step[] }) {
  const zone = useZone();
  const now = Date.now();
  return (
    <div className="ms-chart-axis">
      <span>{shortTime(steps[0]?.at ?? now, now, zone)}</span>
      <span>
        {shortTime(now, now, zone)} <span className="ms-faint">{zone}</span>
      </span>
    </div>
  );
}
