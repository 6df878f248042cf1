// The log of one attempt for as long as its page is open. Hidden tabs close their stream: browsers allow few connections.
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { apiSource, LogStore } from "@/lib/log/store";

export function useLogStore(run: string, attempt: number, onNextAttempt: () => void): LogStore | undefined {
  const store = useMemo(
    () => (attempt > 0 ? new LogStore(attempt, apiSource(run, attempt)) : undefined),
    [run, attempt],
  );
  useEffect(() => {
    if (!store) return;
    store.onNextAttempt = onNextAttempt;
  }, [store, onNextAttempt]);
  useEffect(() => {
    if (!store) return;
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
