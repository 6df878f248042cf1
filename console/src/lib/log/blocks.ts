// Places in a long log from where it can be read, and stretches that are read apart from what is shown.
import type { LogIndex, LogMark, LogPage } from "@/lib/api/schema";
import { isBefore, LineJoiner, type LogRow, type Place, placeOf } from "./lines";

/** A log that grew by less than this since its places were asked for is not asked again. */
const FRESH_BYTES = 1 << 20;
/** So often a log that is too long to be looked through at once is asked again. */
const INDEX_TURNS = 64;
const BEGINNING: LogMark = { offset: 0, line: 1, at: "" };

export interface LogSource {
  page(offset: number, signal: AbortSignal): Promise<LogPage>;
  index(signal: AbortSignal): Promise<LogIndex>;
  follow(lastId: string): EventSource;
}

export class Marks {
  private known: LogMark[] = [];

  constructor(private readonly from: LogSource) {}

  /** The last place at or before an offset. */
  async before(offset: number, signal: AbortSignal): Promise<LogMark> {
    if (offset > (this.known.at(-1)?.offset ?? 0) + FRESH_BYTES || this.known.length === 0) {
      this.known = await this.read(signal);
    }
    return this.known.findLast((mark) => mark.offset <= offset) ?? BEGINNING;
  }

  private async read(signal: AbortSignal): Promise<LogMark[]> {
    let index = await this.from.index(signal);
    for (let turn = 0; index.partial && turn < INDEX_TURNS; turn += 1) index = await this.from.index(signal);
    return index.marks;
  }
}

/** The rows from a mark up to a place, whole. */
export async function rowsBetween(
  from: LogSource,
  mark: LogMark,
  until: Place,
  signal: AbortSignal,
): Promise<LogRow[]> {
  const joiner = new LineJoiner(mark.open);
  const rows: LogRow[] = [];
  let offset = mark.offset;
  for (;;) {
    const page = await from.page(offset, signal);
    for (const line of page.lines) {
      const row = joiner.add(line);
      if (row && isBefore(placeOf(row.key), until)) rows.push(row);
    }
    const isPast = page.next_offset > until.offset;
    const isDone = page.next_offset >= page.length || page.next_offset <= offset;
    if (isPast || isDone) return rows;
    offset = page.next_offset;
  }
}
