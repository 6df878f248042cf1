// Which queries an event makes stale. Pages need not poll for what the stream tells.
import type { WatchEvent } from "./message";

/** Keys of queries, by their first words. */
export function staleKeys(event: WatchEvent): string[][] {
  switch (event.kind) {
    case "run":
      return [["stats"], ["series"], ["cluster"], ["queue"]];
    case "node":
      return [["nodes"], ["pools"], ["cluster"], ["doctor"]];
    case "trigger_paused":
      return [["triggers"], ["doctor"], ["trigger", event.namespace]];
    case "job":
      return [["jobs"], ["triggers"], ["job", event.namespace, event.name]];
    case "trigger":
      return [["triggers"], ["trigger", event.namespace]];
    case "occurrence":
      return [["occurrences"], ["triggers"], ["trigger", event.namespace]];
    case "backfill":
      return [["backfills"], ["trigger", event.namespace]];
    case "reset":
      return [[]];
    case "hello":
    case "progress":
    case "reason":
      return [];
  }
}

/** Gathers keys and hands each on at once, then at most once in `ms`. */
export class StaleKeys {
  private readonly waiting = new Map<string, string[]>();
  private readonly resting = new Set<string>();
  private readonly timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(
    private readonly invalidate: (key: string[]) => void,
    private readonly ms: number,
  ) {}

  hear(event: WatchEvent) {
    for (const key of staleKeys(event)) this.mark(key);
  }

  close() {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    this.resting.clear();
    this.waiting.clear();
  }

  private mark(key: string[]) {
    const name = JSON.stringify(key);
    if (this.resting.has(name)) {
      this.waiting.set(name, key);
      return;
    }
    this.resting.add(name);
    this.invalidate(key);
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.resting.delete(name);
      const again = this.waiting.get(name);
      this.waiting.delete(name);
      if (again) this.mark(again);
    }, this.ms);
    this.timers.add(timer);
  }
}
