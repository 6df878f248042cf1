// Wall clocks of zones: what a clock shows at a moment, and the moment at which it shows that.

import type { JobTrigger } from "@/lib/api/schema";

/** The zone that a trigger counts in; UTC when this browser does not know it. */
export function zoneOf({ spec }: Pick<JobTrigger, "spec">): string {
  const zone = "zone" in spec ? spec.zone : undefined;
  return typeof zone === "string" && zone && isZone(zone) ? zone : "UTC";
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  return format;
}

/** Whether this browser knows the zone. */
export function isZone(zone: string): boolean {
  try {
    partsOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** What the clock shows, as milliseconds of a clock that shows the same in UTC. */
export function wallOf(at: number, zone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of partsOf(zone).formatToParts(at)) parts[type] = Number(value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((at % 1000) + 1000) % 1000);
}

/** The moment at which the clock shows this. A time that is left out when clocks are turned is read as the one after the gap. */
export function momentOf(wall: number, zone: string): number {
  const near = wall - (wallOf(wall, zone) - wall);
  const exact = wall - (wallOf(near, zone) - near);
  return wallOf(exact, zone) === wall ? exact : Math.max(near, exact);
}

/** `2026-11-18T02:00:00` on the clock of the zone, as an input of the browser wants it. */
export const toInput = (at: number, zone: string): string =>
  new Date(wallOf(at, zone)).toISOString().slice(0, 19);

/** The moment of such a text; nothing when it is none. */
export function fromInput(text: string, zone: string): number | undefined {
  const wall = Date.parse(`${text}Z`);
  return Number.isNaN(wall) ? undefined : momentOf(wall, zone);
}

const STEPS_S = [
  1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000,
];

/** Round times of the zone between two moments, at most `most` of them, for an axis. */
export function ticks(from: number, until: number, zone: string, most: number): number[] {
  const span = until - from;
  const step = 1000 * (STEPS_S.find((seconds) => span / (seconds * 1000) <= most) ?? span / 1000 / most);
  const found: number[] = [];
  for (let wall = Math.ceil(wallOf(from, zone) / step) * step; found.length <= most; wall += step) {
    const at = momentOf(wall, zone);
    if (at > until) break;
    if (at >= from && at !== found.at(-1)) found.push(at);
  }
  return found;
}
