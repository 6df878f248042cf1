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

/** How the server says today that output was cut; a field is to come. */
const GAP = /^\[(\d+) bytes of output were dropped here\]$/;

export class LineJoiner {
  private open = new Map<LogStream, LogRow>();
  private offset = -1;
  private index = 0;

  /** Adds a piece. The answer is the new row; nothing when the piece went on with a row there is. */
  add(line: LogLine): LogRow | undefined {
    this.index = line.offset === this.offset ? this.index + 1 : 0;
    this.offset = line.offset;
    const ended = line.text.endsWith("\n");
    const text = ended ? line.text.slice(0, -1) : line.text;
    const begun = this.open.get(line.stream);
    if (begun) {
      begun.text += text;
      if (ended) this.open.delete(line.stream);
      return undefined;
    }
    const cut = line.stream === "system" ? GAP.exec(text) : null;
    const row: LogRow = {
      key: `${line.offset}.${this.index}`,
      at: Date.parse(line.at),
      stream: line.stream,
      text,
    };
    if (cut) row.gap = Number(cut[1]);
    if (!ended) this.open.set(line.stream, row);
    return row;
  }
}
