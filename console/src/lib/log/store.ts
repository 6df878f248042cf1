// The output of one attempt as it is loaded and followed. Pages of JSON bring what is there, an event stream brings the rest.
// Invariant: rows are in the order of the stored log and without a hole between them. What is kept is a stretch of it, of at most
// `ROWS_BYTES_MAX`: at its beginning and its end more is loaded when it is asked for.
import { call, urlOf } from "@/lib/api/client";
import type { LogLine } from "@/lib/api/schema";
import { type LogSource, Marks, rowsBetween } from "./blocks";
import { isBefore, keyOf, LineJoiner, type LogRow, type Place, placeOf } from "./lines";

export type { LogSource } from "./blocks";

const ROWS_BYTES_MAX = 64 << 20;
/** What a row takes beside its text, about. */
const ROW_BYTES = 128;
const PAGE_BYTES = 1 << 20;
/** A log that is longer opens at its end, with so much of it. */
const WHOLE_BYTES_MAX = 8 << 20;
const TAIL_BYTES = 2 << 20;
/** What is loaded at once at either end. */
const BLOCK_BYTES = 512 << 10;
const LAST_ROWS = 200;
/** What is loaded before a place that is jumped to. */
const LEAD_BYTES = 256 << 10;
const BACKOFF_MAX_MS = 15_000;

export type LogPhase = "loading" | "following" | "reconnecting" | "paused" | "ended" | "failed" | "apart";

export const apiSource = (run: string, attempt: number): LogSource => ({
  page: (offset, signal) =>
    call("run_logs", { path: { run }, query: { attempt, offset, limit: PAGE_BYTES }, signal }),
  index: (signal) => call("run_log_index", { path: { run }, query: { attempt }, signal }),
  follow: (lastId) =>
    new EventSource(urlOf("run_logs", { run }, { attempt, follow: true, last_event_id: lastId })),
});

export class LogStore {
  rows: LogRow[] = [];
  /** `apart`: what is kept does not reach the end of the log. */
  phase: LogPhase = "loading";
  error: unknown;
  /** Rows of the log before those that are kept. */
  before = 0;
  /** Bytes known to be stored, and read of them. */
  length = 0;
  read = 0;
  version = 0;
  /** Somebody reads what is kept: rather than its beginning, the end is let go. */
  isHeld = false;
  /** It is so long that it was opened at its end. */
  isLong = false;
  /** A long log opens here rather than at its end. */
  wanted: Place | undefined;
  onNextAttempt: (() => void) | undefined;

  private bytes = 0;
  /** What is kept reaches the end, or the end as it was when it did. */
  private isAtEnd = false;
  private ending: LogRow[] = [];
  private joiner = new LineJoiner();
  /** Where rows were let go at the end: the next to be kept. */
  private cut: Place | undefined;
  private lastId = "";
  private source: EventSource | undefined;
  private abort: AbortController | undefined;
  private earlierAbort: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private listeners = new Set<() => void>();
  private isQueued = false;
  private readonly marks: Marks;

  constructor(
    readonly attempt: number,
    private readonly from: LogSource,
    private readonly schedule: (work: () => void) => void = (work) => requestAnimationFrame(work),
    private readonly bytesMax = ROWS_BYTES_MAX,
  ) {
    this.marks = new Marks(from);
  }

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };
  getVersion = () => this.version;

  /** Whether all of the log so far is kept. */
  get isWhole() {
    return this.before === 0 && this.phase !== "apart";
  }

  /** The last rows of the log, wherever what is kept ends. */
  last(count: number): LogRow[] {
    return (this.isAtEnd || this.ending.length === 0 ? this.rows : this.ending).slice(-count);
  }

  /** Starts to load, or goes on after [`stop`]. */
  start() {
    if (this.phase === "ended" || this.phase === "apart" || this.source || this.abort) return;
    if (this.lastId) this.follow();
    else void this.load();
  }

  /** Stops loading and following; what is loaded stays. */
  stop() {
    this.halt();
    if (this.phase !== "ended" && this.phase !== "failed" && this.phase !== "apart") this.become("paused");
  }

  /** Loads what is before. */
  async earlier() {
    const first = this.rows[0];
    if (this.earlierAbort || this.before === 0 || !first) return;
    const abort = new AbortController();
    this.earlierAbort = abort;
    const until = placeOf(first.key);
    try {
      const mark = await this.marks.before(Math.max(0, until.offset - BLOCK_BYTES), abort.signal);
      const rows = await rowsBetween(this.from, mark, until, abort.signal);
      // The beginning may have been let go meanwhile.
      if (abort.signal.aborted || this.rows[0] !== first) return;
      this.rows = rows.concat(this.rows);
      this.before = mark.line - 1;
      for (const row of rows) this.bytes += costOf(row);
      if (this.bytes > this.bytesMax) this.dropNewest();
      this.changed();
    } catch (error) {
      if (!abort.signal.aborted) this.error = error;
    } finally {
      if (this.earlierAbort === abort) this.earlierAbort = undefined;
    }
  }

  /** Loads what comes after a stretch that does not reach the end. */
  async later() {
    if (this.phase !== "apart" || this.abort) return;
    const from = Math.max(this.read, this.cut?.offset ?? 0);
    await this.load((read) => read >= from + BLOCK_BYTES);
  }

  /** Goes to the end of the log. */
  async toEnd() {
    if (this.phase === "apart") await this.open(this.length - TAIL_BYTES);
  }

  /** Has the row of a place among the rows; false when there is none. */
  async show(place: Place): Promise<boolean> {
    const key = keyOf(place);
    const has = () => this.rows.some((row) => row.key === key);
    if (!has()) await this.open(place.offset - LEAD_BYTES, (read) => read > place.offset + LEAD_BYTES);
    return has();
  }

  private async open(offset: number, isEnough?: (read: number) => boolean) {
    this.halt();
    this.leaveEnd();
    await this.load(isEnough, offset);
  }

  private leaveEnd() {
    if (this.isAtEnd) this.ending = this.rows.slice(-LAST_ROWS);
    this.isAtEnd = false;
  }

  /** Lets everything go, and begins at the last mark before an offset. */
  private async begin(offset: number, signal: AbortSignal) {
    const mark = await this.marks.before(Math.max(0, offset), signal);
    if (signal.aborted) return;
    this.rows = [];
    this.bytes = 0;
    this.cut = undefined;
    this.joiner = new LineJoiner(mark.open);
    this.before = mark.line - 1;
    this.read = mark.offset;
  }

  /** Loads on to the end, or until it is enough. */
  private async load(isEnough?: (read: number) => boolean, offset?: number) {
    const abort = new AbortController();
    this.abort = abort;
    this.become("loading");
    try {
      if (offset !== undefined) await this.begin(offset, abort.signal);
      else if (this.cut) await this.goOnAt(this.cut, abort.signal);
      while (!abort.signal.aborted) {
        const page = await this.from.page(this.read, abort.signal);
        if (abort.signal.aborted) return;
        this.failures = 0;
        this.length = page.length;
        if (this.read === 0 && page.length > WHOLE_BYTES_MAX && !isEnough && !this.isLong) {
          this.isLong = true;
          const { wanted } = this;
          if (wanted) isEnough = (read) => read > wanted.offset + LEAD_BYTES;
          await this.begin(wanted ? wanted.offset - LEAD_BYTES : page.length - TAIL_BYTES, abort.signal);
          continue;
        }
        for (const line of page.lines) this.add(line);
        if (abort.signal.aborted) return this.become("apart");
        const stuck = page.next_offset <= this.read;
        this.read = page.next_offset;
        this.changed();
        const isMore = page.next_offset < page.length && !stuck;
        if (isMore && !isEnough?.(this.read)) continue;
        this.abort = undefined;
        if (isMore) return this.become("apart");
        this.isAtEnd = true;
        if (page.ended) return this.become("ended");
        this.lastId = `${this.attempt}:${page.next_offset}`;
        return this.follow();
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      this.abort = undefined;
      this.error = error;
      this.become("failed");
      this.again(() => this.load(isEnough, this.rows.length === 0 ? offset : undefined));
    }
  }

  private async goOnAt(cut: Place, signal: AbortSignal) {
    const mark = await this.marks.before(cut.offset, signal);
    if (signal.aborted) return;
    this.joiner = new LineJoiner(mark.open);
    this.read = mark.offset;
  }

  private follow() {
    const source = this.from.follow(this.lastId);
    this.source = source;
    source.onopen = () => {
      this.failures = 0;
      this.become("following");
    };
    source.addEventListener("line", (event) => {
      this.lastId = (event as MessageEvent).lastEventId;
      const line = JSON.parse((event as MessageEvent<string>).data) as LogLine;
      this.length = Math.max(this.length, line.offset);
      this.add(line);
      this.changed();
    });
    source.addEventListener("attempt", () => {
      this.finish();
      this.onNextAttempt?.();
    });
    source.addEventListener("end", () => this.finish());
    source.onerror = () => {
      source.close();
      this.source = undefined;
      this.become("reconnecting");
      this.again(() => this.follow());
    };
  }

  private finish() {
    this.source?.close();
    this.source = undefined;
    this.become("ended");
  }

  /** Nothing comes any more, of what was asked for. */
  private halt() {
    this.abort?.abort();
    this.abort = undefined;
    this.earlierAbort?.abort();
    this.earlierAbort = undefined;
    this.source?.close();
    this.source = undefined;
    clearTimeout(this.timer);
  }

  private again(work: () => void) {
    const wait = Math.min(BACKOFF_MAX_MS, 500 * 2 ** this.failures);
    this.failures += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(work, wait);
  }

  private add(line: LogLine) {
    if (this.phase === "apart") return;
    const row = this.joiner.add(line);
    if (!row) {
      this.bytes += line.text.length;
      return;
    }
    if (this.cut) {
      if (isBefore(placeOf(row.key), this.cut)) return;
      this.cut = undefined;
    }
    this.rows.push(row);
    this.bytes += costOf(row);
    if (this.bytes <= this.bytesMax) return;
    if (this.isHeld) this.dropNewest();
    else this.dropOldest();
  }

  private dropOldest() {
    let freed = 0;
    let count = 0;
    while (count < this.rows.length - 1 && freed < this.bytesMax / 8) {
      freed += costOf(this.rows[count]);
      count += 1;
    }
    this.rows = this.rows.slice(count);
    this.before += count;
    this.bytes -= freed;
  }

  /** Lets the end go, which is then loaded when it is asked for. */
  private dropNewest() {
    let count = this.rows.length;
    while (count > 1 && this.bytes > (this.bytesMax / 8) * 7) {
      count -= 1;
      this.bytes -= costOf(this.rows[count]);
    }
    const next = this.rows[count];
    if (!next) return;
    this.halt();
    this.leaveEnd();
    this.cut = placeOf(next.key);
    this.rows = this.rows.slice(0, count);
    this.read = this.cut.offset;
    this.lastId = "";
    this.become("apart");
  }

  private become(phase: LogPhase) {
    this.phase = phase;
    this.changed();
  }

  /** One paint a frame, however many lines come. */
  private changed() {
    if (this.isQueued) return;
    this.isQueued = true;
    this.schedule(() => {
      this.isQueued = false;
      this.version += 1;
      for (const listener of this.listeners) listener();
    });
  }
}

const costOf = (row: LogRow | undefined) => (row ? row.text.length + ROW_BYTES : 0);
