// The watch stream of the browser: one EventSource with its own back-off, for whoever listens. It runs in a SharedWorker, so
// that all tabs share one connection; where there is none, in the tab.
import { KINDS, type LiveMessage, type WatchEvent } from "./message";

const BACKOFF_FIRST_MS = 1000;
const BACKOFF_MAX_MS = 30_000;
const NAMES = ["hello", "reset", ...KINDS] as const;

export class LiveStream {
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private lastId = "";
  private state: LiveMessage = { kind: "connecting" };

  constructor(
    private readonly url: string,
    private readonly send: (message: LiveMessage) => void,
    private readonly open_ = (url: string) => new EventSource(url),
  ) {}

  /** What a listener that comes later has to know. */
  get current(): LiveMessage {
    return this.state;
  }

  open() {
    clearTimeout(this.timer);
    this.source?.close();
    const url = new URL(this.url);
    if (this.lastId) url.searchParams.set("last_event_id", this.lastId);
    const source = this.open_(url.href);
    this.source = source;
    source.onopen = () => {
      const healed = this.failures > 0;
      this.failures = 0;
      this.become({ kind: "live", healed });
    };
    source.onerror = () => this.lost();
    for (const name of NAMES) {
      source.addEventListener(name, (event) => {
        this.lastId = (event as MessageEvent).lastEventId || this.lastId;
        this.send({ kind: "event", event: JSON.parse((event as MessageEvent<string>).data) as WatchEvent });
      });
    }
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
  }

  private lost() {
    this.source?.close();
    const since = this.state.kind === "down" ? this.state.since : Date.now();
    const wait = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** this.failures);
    this.failures += 1;
    this.become({ kind: "down", since, retryAt: Date.now() + wait });
    this.timer = setTimeout(() => this.open(), wait);
  }

  private become(message: LiveMessage) {
    this.state = message;
    this.send(message);
  }
}
