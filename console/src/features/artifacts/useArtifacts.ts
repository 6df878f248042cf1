import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/lib/api/client";
import type { ArtifactInfo } from "@/lib/api/schema";

const PAGE = 500;
const REFRESH_MS = 30_000;

export const artifactsKey = ["artifacts"];

export function useArtifacts(ns: string | undefined) {
  const query = useInfiniteQuery({
    queryKey: [...artifactsKey, "list", ns ?? ""],
    queryFn: ({ pageParam, signal }) =>
      call("artifact_list", { query: { namespace: ns, limit: PAGE, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) <= 1 ? REFRESH_MS : false),
  });
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  return { query, rows };
}

export function filterArtifacts(rows: ArtifactInfo[], q: string): ArtifactInfo[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const text = `${row.name} ${row.digest} ${row.created_by} ${row.content_type ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** \`sha256:\` and enough to tell it apart. */
export const shortDigest = (digest: string) => `${digest.slice(0, "sha256:".length + 12)}…`;
