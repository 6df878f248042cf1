// Search in the loaded rows.
import { plain } from "./ansi";
import type { LogRow } from "./lines";

export interface FindOptions {
  text: string;
  regex?: boolean | undefined;
  matchCase?: boolean | undefined;
}

/** The pattern of a search; nothing for an empty or broken one. */
export function patternOf({ text, regex, matchCase }: FindOptions): RegExp | undefined {
  if (!text) return undefined;
  try {
    return new RegExp(regex ? text : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), matchCase ? "gu" : "giu");
  } catch {
    return undefined;
  }
}

/** Indices of the rows that match. */
export function find(rows: readonly LogRow[], pattern: RegExp): number[] {
  const found: number[] = [];
  for (const [index, row] of rows.entries()) {
    pattern.lastIndex = 0;
    if (pattern.test(plain(row.text))) found.push(index);
  }
  return found;
}
