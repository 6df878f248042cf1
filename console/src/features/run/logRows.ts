// Rows of the log as they are shown: filtered by stream, numbered, with matches.
import type { LogStream } from "@/lib/api/schema";
import { find, patternOf } from "@/lib/log/find";
import { keyOf, type LogRow, type Place } from "@/lib/log/lines";

export type TimeMode = "off" | "clock" | "start" | "delta";

export interface ShownRow extends LogRow {
  number: number;
}

export function shownRows(
  rows: readonly LogRow[],
  before: number,
  stream: LogStream | undefined,
): ShownRow[] {
  const shown: ShownRow[] = [];
  for (const [index, row] of rows.entries()) {
    if (!stream || row.stream === stream) shown.push({ ...row, number: before + index + 1 });
  }
  return shown;
}

export interface Found {
  /** Indices of shown rows. */
  rows: number[];
  set: ReadonlySet<number>;
  pattern: RegExp | undefined;
  isBroken: boolean;
}

const NOTHING: Found = { rows: [], set: new Set(), pattern: undefined, isBroken: false };

export function findIn(rows: readonly LogRow[], text: string, regex: boolean, matchCase: boolean): Found {
  if (!text) return NOTHING;
  const pattern = patternOf({ text, regex, matchCase });
  if (!pattern) return { ...NOTHING, isBroken: true };
  const found = find(rows, pattern);
  return { rows: found, set: new Set(found), pattern, isBroken: false };
}

/** The next match after a row, or the one before; around the end. */
export function step(found: number[], current: number, by: 1 | -1): number | undefined {
  if (found.length === 0) return undefined;
  if (by === 1) return found.find((row) => row > current) ?? found[0];
  return [...found].reverse().find((row) => row < current) ?? found.at(-1);
}

/** A match as it is counted, of how many. */
export interface Tally {
  at: number | undefined;
  count: number;
  isBroken: boolean;
}

/** Of what is found here, by row, or by the server, by key. */
export function tallyOf(
  found: Found | { matches: Place[]; count: number; isBroken: boolean } | undefined,
  current: number | string | undefined,
): Tally | undefined {
  if (!found) return undefined;
  const isHere = "rows" in found;
  const at = isHere
    ? found.rows.indexOf(current as number)
    : found.matches.findIndex((one) => keyOf(one) === current);
  const count = isHere ? found.rows.length : found.count;
  return { at: at < 0 ? undefined : at, count, isBroken: found.isBroken };
}
