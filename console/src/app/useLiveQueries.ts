// Queries that an event of the stream makes stale are read anew, whatever page is open; the server says its time and version
// when the stream begins.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { useWatch } from "@/lib/live/live";
import type { WatchEvent } from "@/lib/live/message";
import { StaleKeys } from "@/lib/live/stale";
import { noticeServer } from "./server";

const EVERY_MS = 1500;

export function useLiveQueries() {
  const client = useQueryClient();
  const stale = useMemo(
    () => new StaleKeys((queryKey) => void client.invalidateQueries({ queryKey }), EVERY_MS),
    [client],
  );
  useEffect(() => () => stale.close(), [stale]);
  useWatch(
    useCallback(
      (event: WatchEvent) => {
        if (event.kind === "hello") noticeServer(event);
        else stale.hear(event);
      },
      [stale],
    ),
  );
}
