import { useTranslation } from "react-i18next";
import type { Step } from "@/lib/series";
import { duration } from "@/lib/time/format";
import { StepAxis } from "./EndsChart";
import "./charts.css";

const HEIGHT = 80;

interface TimesChartProps {
  steps: Step[];
  of: "queued" | "running";
  label: string;
}

const LINES = ["p95", "p50", "mean"] as const;
type Line = (typeof LINES)[number];

function timeOf(step: Step, of: TimesChartProps["of"], line: Line): number | undefined {
  if (line === "mean") return step[`${of}_ms_mean`] ?? undefined;
  return step[`${of}_ms`]?.[line];
}

/** Queue or run time by step: median and 95th percentile where they are known, the mean everywhere. */
export function TimesChart({ steps, of, label }: TimesChartProps) {
  const { t } = useTranslation();
  const values = (line: Line) => steps.map((step) => timeOf(step, of, line));
  const top = Math.max(1, ...LINES.flatMap((line) => values(line).map((value) => value ?? 0)));
  const y = (value: number) => HEIGHT - 2 - (value / top) * (HEIGHT - 6);
  const last = (line: Line) => values(line).findLast((value) => value !== undefined);
  return (
    <>
      <svg
        role="img"
        aria-label={`${label}: ${LINES.map((line) => `${t(`chart.${line}`)} ${duration(last(line))}`).join(", ")}`}
        viewBox={`0 0 ${Math.max(1, steps.length) * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        height={HEIGHT}
        width="100%"
      >
        {LINES.map((line) => (
          <g key={line} className="ms-chart-line" data-line={line}>
            {values(line).map((value, index) =>
              value === undefined ? null : (
                <line
                  key={steps[index]?.at}
                  x1={index * 10 + 1}
                  x2={index * 10 + 9}
                  y1={y(value)}
                  y2={y(value)}
                  vectorEffect="non-scaling-stroke"
                />
              ),
            )}
          </g>
        ))}
      </svg>
      <p className="ms-chart-legend">
        {LINES.map((line) => (
          <span key={line} data-line={line}>
            {t(`chart.${line}`)} {duration(last(line))}
          </span>
        ))}
        <span className="ms-faint">{t("chart.top", { value: duration(top) })}</span>
      </p>
      <StepAxis steps={steps} />
    </>
  );
}
