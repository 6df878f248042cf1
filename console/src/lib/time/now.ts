// One clock for all ages and countdowns on the page, in the server's time: ticks each second while something looks, and stands
// still while the tab is hidden.
import { useSyncExternalStore } from "react";

/** How far the server's clock is ahead of the browser's. */
let ahead = 0;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The server's clock said `at` at some moment between `askedAt` and now. */
export function setServerClock(at: number, askedAt: number) {
  const local = Date.now();
  const slack = (local - askedAt) / 2;
  const found = at - (askedAt + local) / 2;
  // Within what the way of the answer explains, the two agree.
  ahead = Math.abs(found) <= slack + 1000 ? 0 : Math.round(found);
  tick();
}

/** The server's time, as far as is known. */
export const serverNow = () => Date.now() + ahead;

function tick() {
  if (typeof document !== "undefined" && document.hidden) return;
  now = serverNow();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  if (listeners.size === 1) {
    now = serverNow();
    timer = setInterval(tick, 1000);
    document.addEventListener("visibilitychange", tick);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    }
  };
}

export const useNow = () => useSyncExternalStore(subscribe, () => now);
