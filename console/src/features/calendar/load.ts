// Planned load as rows of days and columns of hours, on the clock of a zone.
import { momentOf, wallOf } from "@/lib/time/zone";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface HourLoad {
  /** When the hour begins. */
  at: number;
  firings: number;
  busyMs: number;
}

interface Report {
  from: string;
  pools: { pool: string; firings: number[]; busy_ms: number[] }[];
}

/** One pool, or all together, hour by hour. */
export function hoursOf(report: Report, only?: string): HourLoad[] {
  const from = Date.parse(report.from);
  const pools = report.pools.filter((pool) => only === undefined || pool.pool === only);
  const length = Math.max(0, ...report.pools.map((pool) => pool.firings.length));
  return Array.from({ length }, (_, hour) => ({
    at: from + hour * HOUR_MS,
    firings: pools.reduce((sum, pool) => sum + (pool.firings[hour] ?? 0), 0),
    busyMs: pools.reduce((sum, pool) => sum + (pool.busy_ms[hour] ?? 0), 0),
  }));
}

export interface DayLoad {
  /** When the day begins on the clock of the zone, as a clock in UTC that shows the same. */
  wall: number;
  /** By hour of the clock. An hour that comes twice has both; one that is left out is not there. */
  hours: (HourLoad | undefined)[];
}

export function daysOf(hours: HourLoad[], zone: string): DayLoad[] {
  const days = new Map<number, DayLoad>();
  for (const hour of hours) {
    const wall = wallOf(hour.at, zone);
    const begin = Math.floor(wall / DAY_MS) * DAY_MS;
    let day = days.get(begin);
    if (!day) {
      day = { wall: begin, hours: Array.from({ length: 24 }, () => undefined) };
      days.set(begin, day);
    }
    const place = Math.floor((wall - begin) / HOUR_MS);
    const before = day.hours[place];
    day.hours[place] = before
      ? { at: before.at, firings: before.firings + hour.firings, busyMs: before.busyMs + hour.busyMs }
      : hour;
  }
  return [...days.values()];
}

/** The beginning of the day that a moment is in. */
export const dayBegin = (at: number, zone: string): number =>
  momentOf(Math.floor(wallOf(at, zone) / DAY_MS) * DAY_MS, zone);

/** So many days later, on the clock of the zone. */
export const daysLater = (at: number, days: number, zone: string): number =>
  momentOf(wallOf(at, zone) + days * DAY_MS, zone);
