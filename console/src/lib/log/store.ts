// The output of one attempt as it is loaded and followed. Pages of JSON bring what is there, an event stream brings the rest.
// Invariant: rows are in the order of the stored log; a row that was shown is never taken away while its attempt is open,
// except the oldest ones of a log beyond `BYTES_MAX`.
import { call, urlOf } from "@/lib/api/client";
import type { LogLine, LogPage } from "@/lib/api/schema";
import { LineJoiner, type LogRow } from "./lines";

const BYTES_MAX = 64 << 20;
const PAGE_BYTES = 1 << 20;
const BACKOFF_MAX_MS = 15_000;

export type LogPhase = "loading" | "following" | "reconnecting" | "paused" | "ended" | "failed";

export interface LogSource {
  page(offset: number, signal: AbortSignal): Promise<LogPage>;
  follow(lastId: string): EventSource;
}

export const apiSource = (run: string, attempt: number): LogSource => ({
  page: (offset, signal) =>
    call("run_logs", { path: { run }, query: { attempt, offset, limit: PAGE_BYTES }, signal }),
  follow: (lastId) =>
    new EventSource(urlOf("run_logs", { run }, { attempt, follow: true, last_event_id: lastId })),
});

export class LogStore {
  rows: LogRow[] = [];
  phase: LogPhase = "loading";
  error: unknown;
  /** Rows that were dropped from the beginning to bound memory. */
  dropped = 0;
  /** Bytes known to be stored, and read of them. */
  length = 0;
  read = 0;
  version = 0;
  onNextAttempt: (() => void) | undefined;

  private bytes = 0;
  private joiner = new LineJoiner();
  private lastId = "";
  private source: EventSource | undefined;
  private abort: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private listeners = new Set<() => void>();
  private isQueued = false;

  constructor(
    readonly attempt: number,
    private readonly from: LogSource,
    private readonly schedule: (work: () => void) => void = (work) => requestAnimationFrame(work),
  ) {}

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };
  getVersion = () => this.version;

  /** Starts to load, or goes on after [`stop`]. */
  start() {
    if (this.phase === "ended" || this.source || this.abort) return;
    if (this.lastId) this.follow();
    else void this.load();
  }

  /** Stops loading and following; what is loaded stays. */
  stop() {
    this.abort?.abort();
    this.abort = undefined;
    this.source?.close();
    this.source = undefined;
    clearTimeout(this.timer);
    if (this.phase !== "ended" && this.phase !== "failed") this.become("paused");
  }

  private async load() {
    const abort = new AbortController();
    this.abort = abort;
    this.become("loading");
    try {
      for (;;) {
        const page = await this.from.page(this.read, abort.signal);
        if (abort.signal.aborted) return;
        this.failures = 0;
        for (const line of page.lines) this.add(line);
        const stuck = page.next_offset <= this.read;
        this.read = page.next_offset;
        this.length = page.length;
        this.changed();
        if (page.next_offset < page.length && !stuck) continue;
        this.abort = undefined;
        if (page.ended) return this.become("ended");
        this.lastId = `${this.attempt}:${page.next_offset}`;
        return this.follow();
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      this.abort = undefined;
      this.error = error;
      this.become("failed");
      this.later(() => this.load());
    }
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
      this.add(JSON.parse((event as MessageEvent<string>).data) as LogLine);
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
      this.later(() => this.follow());
    };
  }

  private finish() {
    this.source?.close();
    this.source = undefined;
    this.become("ended");
  }

  private later(work: () => void) {
    const wait = Math.min(BACKOFF_MAX_MS, 500 * 2 ** this.failures);
    this.failures += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(work, wait);
  }

  private add(line: LogLine) {
    const row = this.joiner.add(line);
    this.bytes += line.text.length;
    if (row) this.rows.push(row);
    if (this.bytes > BYTES_MAX) this.dropOldest();
  }

  private dropOldest() {
    let freed = 0;
    let count = 0;
    while (count < this.rows.length - 1 && freed < BYTES_MAX / 8) {
      freed += this.rows[count]?.text.length ?? 0;
      count += 1;
    }
    this.rows = this.rows.slice(count);
    this.dropped += count;
    this.bytes -= freed;
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
