// What the server says of itself: its clock, by which the page tells ages, and its version, which may become another while the
// page is open.
import { useSyncExternalStore } from "react";
import type { ServerNow } from "@/lib/api/schema";
import { setServerClock } from "@/lib/time/now";

let first: string | undefined;
let current: string | undefined;
const listeners = new Set<() => void>();

/** `askedAt` is when the page asked: the answer's time lies between then and now. */
export function noticeServer(server: ServerNow, askedAt: number = Date.now()) {
  const at = Date.parse(server.now);
  if (!Number.isNaN(at)) setServerClock(at, askedAt);
  first ??= server.software;
  if (current === server.software) return;
  current = server.software;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

/** The server's version when it is no longer the one that served this page. */
export const useNewVersion = () =>
  useSyncExternalStore(subscribe, () => (current === first ? undefined : current));
