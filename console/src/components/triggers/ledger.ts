// The ledger as moments: what became of each planned moment, with what a backfill made of it later.
import type { JobTrigger, Occurrence } from "@/lib/api/schema";
import { LATE_MS, type OccurrenceFace } from "@/lib/state/occurrence";
import { millis } from "@/lib/time/format";

export interface Moment {
  planned: number;
  /** The last of several in a row. */
  through: number | undefined;
  /** How many; nothing when nobody counted. */
  count: number | undefined;
  face: OccurrenceFace;
  /** How late it fired; nothing when it did not fire by itself. */
  lateMs: number | undefined;
  line: Occurrence | undefined;
  /** The line of the backfill that made up for it. */
  madeUp: Occurrence | undefined;
}

const UNITS_MS: Record<string, number> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
};

/** Milliseconds of `1h30m`, `250ms`; 0 of what is none. */
export function durationMs(text: unknown): number {
  if (typeof text !== "string") return 0;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+)(ms|us|d|h|m|s)/g))
    sum += Number(number) * (UNITS_MS[unit ?? ""] ?? 0);
  return sum;
}

/** The moments of these lines and those that are still planned, the oldest first. */
export function momentsOf(lines: Occurrence[], planned: number[], jitterMs: number): Moment[] {
  const found = new Map<number, Lines>();
  const rows: Moment[] = [];
  for (const line of lines) {
    const at = millis(line.planned);
    if (at === undefined) continue;
    // One of several in a row may be made up for without the others: the row stays.
    if (line.through && line.through !== line.planned) {
      rows.push(momentOf(at, { own: line }, jitterMs));
      continue;
    }
    const entry = found.get(at) ?? {};
    if (!line.backfill) entry.own = line;
    else if (!entry.backfill || line.at > entry.backfill.at) entry.backfill = line;
    found.set(at, entry);
  }
  const moments = rows.concat([...found].map(([at, entry]) => momentOf(at, entry, jitterMs)));
  for (const at of planned) {
    if (!found.has(at)) moments.push({ ...NOTHING, planned: at });
  }
  return moments.sort((a, b) => a.planned - b.planned);
}

const NOTHING = {
  through: undefined,
  count: 1,
  face: "planned",
  lateMs: undefined,
  line: undefined,
  madeUp: undefined,
} as const;

interface Lines {
  own?: Occurrence;
  backfill?: Occurrence;
}

function momentOf(planned: number, { own, backfill }: Lines, jitterMs: number): Moment {
  const line = own ?? backfill;
  const isMadeUp = backfill?.outcome === "fired" && own?.outcome !== "fired";
  const isFired = own?.outcome === "fired";
  const lateMs = isFired ? own.late_ms : undefined;
  const face: OccurrenceFace = isMadeUp
    ? "made_up"
    : lateMs !== undefined && lateMs > LATE_MS + jitterMs
      ? "late"
      : (line?.outcome ?? "missed");
  const through = line?.through ? millis(line.through) : undefined;
  return {
    planned,
    through: through === planned ? undefined : through,
    count: line?.count ?? undefined,
    face,
    lateMs,
    line,
    madeUp: own ? backfill : undefined,
  };
}

export const jitterOf = (trigger: JobTrigger): number => durationMs(trigger.spec.jitter);

/** How many moments are of each kind; `isExact` is false when a row stands for more than anybody counted. */
export function counts(moments: Moment[]): Map<OccurrenceFace, { count: number; isExact: boolean }> {
  const found = new Map<OccurrenceFace, { count: number; isExact: boolean }>();
  for (const { face, count } of moments) {
    const entry = found.get(face) ?? { count: 0, isExact: true };
    found.set(face, { count: entry.count + (count ?? 1), isExact: entry.isExact && count !== undefined });
  }
  return found;
}

/** The middle of the latenesses. */
export function medianLate(moments: Moment[]): number | undefined {
  const all = moments.flatMap(({ lateMs }) => lateMs ?? []).sort((a, b) => a - b);
  return all[Math.floor(all.length / 2)];
}

/** The window of the URL: moments as text, or `-7d` before now. Without one, whatever is newest. */
export function windowOf(
  search: { from?: string | undefined; until?: string | undefined },
  now: number,
): { from: number | undefined; until: number | undefined } {
  const from = search.from?.startsWith("-") ? now - durationMs(search.from) : millis(search.from);
  return { from, until: millis(search.until) };
}
