// Where a log opens: at the line of a link, or at the end when it is too long to be loaded whole.
import { useEffect, useRef } from "react";
import { placeOf } from "@/lib/log/lines";
import type { LogStore } from "@/lib/log/store";

/** A long log is read from its end, unless the page was opened for something in it. */
export function useOpenedAtEnd(store: LogStore, isFree: boolean, onFollow: (follow: boolean) => void) {
  const isDone = useRef(false);
  useEffect(() => {
    if (isDone.current || !store.isLong) return;
    isDone.current = true;
    if (isFree) onFollow(true);
  }, [store.isLong, isFree, onFollow]);
}

/** The line of a link is loaded, once, when it is not there after the log is. */
export function useLineLink(store: LogStore, line: string | undefined) {
  const shown = useRef<string>(undefined);
  const isLoaded = store.phase !== "loading" && store.rows.length > 0;
  useEffect(() => {
    if (!line || !isLoaded || shown.current === line) return;
    shown.current = line;
    void store.show(placeOf(line));
  }, [store, line, isLoaded]);
}
