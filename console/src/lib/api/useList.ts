// Lists of the API: pages by cursor, read on as the table asks for more.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call, type OperationId, type Request } from "./client";
import type { Operations } from "./schema";

interface Page {
  items: unknown[];
  next_cursor?: string | null;
}
export type ListOperation = {
  [O in OperationId]: Operations[O]["answer"] extends Page ? O : never;
}[OperationId];
export type ItemOf<O extends ListOperation> = Operations[O]["answer"] extends { items: Array<infer T> }
  ? T
  : never;

interface ListOptions {
  limit?: number;
  enabled?: boolean;
  /** How often the first page is read again. */
  refreshMs?: number;
}

export function useList<O extends ListOperation>(
  operation: O,
  key: unknown[],
  filter: Record<string, unknown>,
  { limit = 200, enabled = true, refreshMs = 30_000 }: ListOptions = {},
) {
  const query = useInfiniteQuery({
    queryKey: [...key, filter],
    queryFn: async ({ pageParam, signal }) => {
      const request = { query: { ...filter, limit, cursor: pageParam }, signal };
      return (await call(operation, request as unknown as Request<O>)) as Page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) <= 1 ? refreshMs : false),
  });
  const rows = useMemo(
    () => (query.data?.pages.flatMap((page) => page.items) ?? []) as ItemOf<O>[],
    [query.data],
  );
  const onEnd = query.hasNextPage
    ? () => void (!query.isFetchingNextPage && query.fetchNextPage())
    : undefined;
  return { query, rows, onEnd };
}

/** Rows of which the text has every word of the query. */
export function filterByText<T>(rows: T[], q: string, textOf: (row: T) => string): T[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = textOf(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
