// The live list of runs of a query. Server state is in the query cache; events patch it, pages with changes are read again at
// most once a second.
import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { call } from "@/lib/api/client";
import type { Run } from "@/lib/api/schema";
import { useWatch } from "@/lib/live/live";
import type { WatchEvent } from "@/lib/live/message";
import { throttled } from "@/lib/live/throttle";
import { applyEvent, mergePage, ROWS_MAX, type RunPages, rowsOf, showAdded } from "./pages";

const PAGE = 100;

export function useRuns(q: string, ns: string | undefined) {
  const client = useQueryClient();
  const key = useMemo(() => ["runs", q, ns ?? ""], [q, ns]);
  const [added, setAdded] = useState<{ key: unknown; runs: Run[] }>({ key, runs: [] });
  const dirty = useRef(new Set<number>());

  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      call("run_list", { query: { q, namespace: ns, limit: PAGE, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // Read again page by page, by events; a read of all pages on focus would be one request for each.
    refetchOnWindowFocus: false,
    staleTime: 10_000,
  });

  const reread = useCallback(async () => {
    const pages = [...dirty.current];
    dirty.current.clear();
    for (const page of pages) {
      const before = client.getQueryData<RunPages>(key);
      if (!before?.pages[page]) continue;
      const cursor = before.pageParams[page];
      const limit = page === 0 ? 2 * PAGE : PAGE;
      try {
        const fresh = await call("run_list", { query: { q, namespace: ns, limit, cursor } });
        const now = client.getQueryData<RunPages>(key);
        if (!now) return;
        const merged = mergePage(now, page, fresh);
        client.setQueryData(key, merged.data);
        const newest = rowsOf(merged.data)[0]?.id ?? "";
        // Ids begin with their time: what is older than the top row is not new, it only was on no page yet.
        if (page === 0) setAdded({ key, runs: merged.added.filter((run) => run.id > newest) });
      } catch {
        // The stream says when the server is away; the next event or its return reads again.
      }
    }
  }, [client, key, q, ns]);

  const later = useMemo(() => throttled(() => void reread(), 1000), [reread]);
  useEffect(() => () => later.cancel(), [later]);

  const onEvent = useCallback(
    (event: WatchEvent) => {
      if (event.kind === "reset") {
        const data = client.getQueryData<RunPages>(key);
        for (const page of data?.pages.keys() ?? []) dirty.current.add(page);
        later();
      }
      if (event.kind !== "run") return;
      const data = client.getQueryData<RunPages>(key);
      if (!data) return;
      const patched = applyEvent(data, event);
      if (patched.page >= 0) client.setQueryData(key, patched.data);
      // A run that is not loaded may be a new one.
      dirty.current.add(Math.max(0, patched.page));
      later();
    },
    [client, key, later],
  );
  useWatch(onEvent);

  const rows = useMemo(() => rowsOf(query.data as RunPages | undefined), [query.data]);
  const waiting = added.key === key ? added.runs : [];
  return {
    query,
    rows,
    added: waiting,
    showNew: () => {
      const data = client.getQueryData<RunPages>(key);
      if (data) client.setQueryData(key, showAdded(data, waiting));
      setAdded({ key, runs: [] });
    },
    isFull: rows.length >= ROWS_MAX,
  };
}
