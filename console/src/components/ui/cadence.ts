// The geometry of the cadence chart: lateness on a log scale, and columns where marks would be too many.
import type { OccurrenceFace } from "@/lib/state/occurrence";
import { momentOf, wallOf } from "@/lib/time/zone";

export interface CadenceMark {
  at: number;
  /** The end of several in a row. */
  through?: number | undefined;
  count: number | undefined;
  face: OccurrenceFace;
  lateMs: number | undefined;
  label: string;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** More marks than this become columns. */
export const MARKS_MAX = 400;
const COLUMNS_MAX = 200;
const TICK_HEIGHT = 18;

const TICKS_MS = [0, 1000, 10_000, 60_000, 600_000, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY];

const lift = (ms: number) => Math.log10(1 + Math.max(0, ms) / 1000);

/** From lateness to 0 (on time) … 1 (the top), with the ticks that fit. */
export function lateScale(marks: CadenceMark[], height: number) {
  const most = Math.max(10_000, ...marks.map((mark) => mark.lateMs ?? 0));
  const top = TICKS_MS.find((tick) => tick >= most) ?? most;
  const of = (ms: number) => lift(ms) / lift(top);
  const ticks: number[] = [];
  for (const tick of TICKS_MS) {
    const hasRoom = (of(tick) - of(ticks.at(-1) ?? -1)) * height >= TICK_HEIGHT;
    const isTop = tick === top || (1 - of(tick)) * height >= TICK_HEIGHT;
    if (tick <= top && isTop && (ticks.length === 0 || hasRoom)) ticks.push(tick);
  }
  return { ticks, of };
}

export interface CadenceColumn {
  from: number;
  until: number;
  counts: Partial<Record<OccurrenceFace, number>>;
  total: number;
}

/** Counts by hour, or by day of the zone when hours are too many. */
export function columnsOf(marks: CadenceMark[], from: number, until: number, zone: string): CadenceColumn[] {
  const step = (until - from) / HOUR <= COLUMNS_MAX ? HOUR : DAY;
  const columns = new Map<number, CadenceColumn>();
  const add = (wall: number, face: OccurrenceFace, count: number) => {
    let column = columns.get(wall);
    if (!column) {
      column = { from: momentOf(wall, zone), until: momentOf(wall + step, zone), counts: {}, total: 0 };
      columns.set(wall, column);
    }
    column.counts[face] = (column.counts[face] ?? 0) + count;
    column.total += count;
  };
  const wallBegin = (at: number) => Math.floor(wallOf(at, zone) / step) * step;
  for (const mark of marks) {
    const first = wallBegin(Math.max(from, mark.at));
    const last = wallBegin(Math.min(until, mark.through ?? mark.at));
    const places = Math.max(1, (last - first) / step + 1);
    // Several in a row are spread over the columns that they pass.
    let left = mark.count ?? 1;
    for (let place = 0; place < places; place += 1) {
      const share = Math.round(left / (places - place));
      if (share > 0) add(first + place * step, mark.face, share);
      left -= share;
    }
  }
  return [...columns.values()].sort((a, b) => a.from - b.from);
}

/** The mark that is nearest to a moment. */
export function nearest(marks: CadenceMark[], at: number): number {
  let best = -1;
  let away = Number.POSITIVE_INFINITY;
  for (const [index, mark] of marks.entries()) {
    const inside = mark.through !== undefined && at >= mark.at && at <= mark.through;
    const distance = inside ? 0 : Math.min(Math.abs(mark.at - at), Math.abs((mark.through ?? mark.at) - at));
    if (distance < away) [best, away] = [index, distance];
  }
  return best;
}
