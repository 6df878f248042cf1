// Steps of a series, arranged for charts: without holes, the oldest first.
import type { SeriesPoint, StatsSeries } from "./api/schema";
import { millis } from "./time/format";

export interface Step extends Omit<SeriesPoint, "at"> {
  /** When it begins, in milliseconds. */
  at: number;
  /** How long it is. */
  ms: number;
}

/** Every step of the span; those in which nothing ended are zero. */
export function stepsOf(series: StatsSeries): Step[] {
  const ms = series.step_s * 1000;
  const from = millis(series.from) ?? 0;
  const until = millis(series.until) ?? from;
  const known = new Map(series.points.map((point) => [millis(point.at), point]));
  const steps: Step[] = [];
  for (let at = from; at < until; at += ms) {
    const none = { success: 0, final_failed: 0, cancelled: 0, skipped: 0 };
    steps.push({ ...none, ...known.get(at), at, ms });
  }
  return steps;
}
