// Rows of the log as they are shown: filtered by stream, numbered, with matches.
import type { LogStream } from "@/lib/api/schema";
import { find, patternOf } from "@/lib/log/find";
import type { LogRow } from "@/lib/log/lines";

export type TimeMode = "off" | "clock" | "start" | "delta";

export interface ShownRow extends LogRow {
  number: number;
}

export function shownRows(
  rows: readonly LogRow[],
  dropped: number,
  stream: LogStream | undefined,
): ShownRow[] {
  const shown: ShownRow[] = [];
  for (const [index, row] of rows.entries()) {
    if (!stream || row.stream === stream) shown.push({ ...row, number: dropped + index + 1 });
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
