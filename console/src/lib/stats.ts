// Hourly roll-ups arranged for strips and charts.
import type { StatsHour } from "./api/schema";
import { millis } from "./time/format";

export const HOUR_MS = 3_600_000;

export interface HourCount {
  hour: number;
  success: number;
  final_failed: number;
  cancelled: number;
  skipped: number;
}

const empty = (hour: number): HourCount => ({ hour, success: 0, final_failed: 0, cancelled: 0, skipped: 0 });

/** One entry for each hour up to now, the oldest first, without holes. */
export function byHour(rows: StatsHour[], hours: number, now: number): HourCount[] {
  const last = Math.floor(now / HOUR_MS) * HOUR_MS;
  const counts = Array.from({ length: hours }, (_, index) => empty(last - (hours - 1 - index) * HOUR_MS));
  const at = new Map(counts.map((count) => [count.hour, count]));
  for (const row of rows) {
    const count = at.get(millis(row.hour) ?? 0);
    if (!count) continue;
    count.success += row.success;
    count.final_failed += row.final_failed;
    count.cancelled += row.cancelled;
    count.skipped += row.skipped;
  }
  return counts;
}

export function byJob(rows: StatsHour[]): Map<string, StatsHour[]> {
  const jobs = new Map<string, StatsHour[]>();
  for (const row of rows) {
    const list = jobs.get(row.job);
    if (list) list.push(row);
    else jobs.set(row.job, [row]);
  }
  return jobs;
}

export interface JobHealth {
  success: number;
  failed: number;
  /** Share of successes among those that succeeded or failed; nothing without any. */
  rate: number | undefined;
  /** Mean of the time that attempts ran, over all that ended. */
  meanMs: number | undefined;
}

export function healthOf(rows: StatsHour[]): JobHealth {
  let success = 0;
  let failed = 0;
  let time = 0;
  let ended = 0;
  for (const row of rows) {
    success += row.success;
    failed += row.final_failed;
    const count = row.success + row.final_failed + row.cancelled + row.skipped;
    time += row.running_ms_mean * count;
    ended += count;
  }
  const decided = success + failed;
  return {
    success,
    failed,
    rate: decided ? success / decided : undefined,
    meanMs: ended ? time / ended : undefined,
  };
}
