// Log rows out of captured pieces: pieces of a line that was not ended are joined, each row knows its place.
import type { LogLine, LogStream } from "@/lib/api/schema";

export interface LogRow {
  /** Place in the stored log: offset of its first piece, and its index among the lines of that offset. */
  key: string;
  at: number;
  stream: LogStream;
  text: string;
  /** Bytes that were cut here, of a row that stands for a gap. */
  gap?: number;
}

/** Where a row begins: a piece of the stored log, and which of its lines. */
export interface Place {
  offset: number;
  index: number;
}

export const keyOf = ({ offset, index }: Place) => `${offset}.${index}`;

export function placeOf(key: string): Place {
  const [offset, index] = key.split(".");
  return { offset: Number(offset) || 0, index: Number(index) || 0 };
}

export const isBefore = (a: Place, b: Place) =>
  a.offset < b.offset || (a.offset === b.offset && a.index < b.index);

export class LineJoiner {
  private open = new Map<LogStream, LogRow>();
  private skipped: Set<LogStream>;
  private offset = -1;
  private index = 0;

  /** Begins within lines of these streams: what is left of them is no row. */
  constructor(open: Iterable<LogStream> = []) {
    this.skipped = new Set(open);
  }

  /** Whether a row is not ended yet. */
  get isOpen() {
    return this.open.size > 0;
  }

  /** Adds a piece. The answer is the new row; nothing when the piece went on with a row there is. */
  add(line: LogLine): LogRow | undefined {
    this.index = line.offset === this.offset ? this.index + 1 : 0;
    this.offset = line.offset;
    const ended = line.text.endsWith("\n");
    const text = ended ? line.text.slice(0, -1) : line.text;
    if (this.skipped.has(line.stream)) {
      if (ended) this.skipped.delete(line.stream);
      return undefined;
    }
    const begun = this.open.get(line.stream);
    if (begun) {
      begun.text += text;
      if (ended) this.open.delete(line.stream);
      return undefined;
    }
    const row: LogRow = {
      key: keyOf({ offset: line.offset, index: this.index }),
      at: Date.parse(line.at),
      stream: line.stream,
      text,
    };
    if (typeof line.gap_bytes === "number") row.gap = line.gap_bytes;
    if (!ended) this.open.set(line.stream, row);
    return row;
  }
}
