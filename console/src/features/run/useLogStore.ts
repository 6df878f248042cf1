// The log of one attempt for as long as its page is open. Hidden tabs close their stream: browsers allow few connections.
import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { placeOf } from "@/lib/log/lines";
import { apiSource, LogStore } from "@/lib/log/store";

export function useLogStore(
  run: string,
  attempt: number,
  line: string | undefined,
  onNextAttempt: () => void,
): LogStore | undefined {
  const store = useMemo(
    () => (attempt > 0 ? new LogStore(attempt, apiSource(run, attempt)) : undefined),
    [run, attempt],
  );
  useEffect(() => {
    if (!store) return;
    store.onNextAttempt = onNextAttempt;
  }, [store, onNextAttempt]);
  const opened = useRef(line);
  useEffect(() => {
    if (!store) return;
    if (opened.current) store.wanted = placeOf(opened.current);
    opened.current = undefined;
    const onVisibility = () => (document.hidden ? store.stop() : store.start());
    onVisibility();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      store.stop();
    };
  }, [store]);
  useSyncExternalStore(store?.subscribe ?? subscribeNone, store?.getVersion ?? zero);
  return store;
}

const subscribeNone = () => () => {};
const zero = () => 0;
