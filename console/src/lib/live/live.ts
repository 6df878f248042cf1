// The page's end of the watch stream: whether the page is live, and the events.
import { useEffect, useSyncExternalStore } from "react";
import { urlOf } from "@/lib/api/client";
import { KINDS, type LiveMessage, type WatchEvent } from "./message";
import { LiveStream } from "./stream";

export type LiveState = Exclude<LiveMessage, { kind: "event" }>;

let state: LiveState = { kind: "connecting" };
let retry: () => void = () => {};
const stateListeners = new Set<() => void>();
const eventListeners = new Set<(event: WatchEvent) => void>();

function receive(message: LiveMessage) {
  if (message.kind === "event") {
    for (const listener of eventListeners) listener(message.event);
    return;
  }
  state = message;
  for (const listener of stateListeners) listener();
  // While it was down, events may have passed that the server no longer has: read anew.
  if (message.kind === "live" && message.healed) {
    for (const listener of eventListeners) listener({ kind: "reset", mark: "" });
  }
}

/** Opens the stream; the answer closes it. */
export function startLive(): () => void {
  const url = urlOf("watch", {}, { kinds: KINDS.join(",") });
  if (typeof SharedWorker === "undefined") {
    const stream = new LiveStream(url, receive);
    stream.open();
    retry = () => stream.open();
    return () => stream.close();
  }
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), {
    type: "module",
    name: "mainspring-live",
  });
  worker.port.onmessage = ({ data }: MessageEvent<LiveMessage>) => receive(data);
  worker.port.postMessage({ kind: "hello", url });
  retry = () => worker.port.postMessage({ kind: "retry" });
  const bye = () => worker.port.postMessage({ kind: "bye" });
  addEventListener("pagehide", bye);
  return () => {
    removeEventListener("pagehide", bye);
    bye();
    worker.port.close();
  };
}

export const retryLive = () => retry();

const subscribe = (listener: () => void) => {
  stateListeners.add(listener);
  return () => stateListeners.delete(listener);
};

export const useLiveState = () => useSyncExternalStore(subscribe, () => state);

/** Calls `listener` for each event while the component is there; the listener must be stable. */
export function useWatch(listener: (event: WatchEvent) => void) {
  useEffect(() => {
    eventListeners.add(listener);
    return () => {
      eventListeners.delete(listener);
    };
  }, [listener]);
}
