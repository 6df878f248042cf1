// What the Jobs page reads: pages of jobs with their health, one request for each hundred of them.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/lib/api/client";

const PAGE = 100;
/** Events say when a job changed; how its runs fare comes without. */
const REFRESH_MS = 15_000;

export interface JobsFilter {
  ns: string | undefined;
  q: string;
  label: string;
}

export function useJobs({ ns, q, label }: JobsFilter) {
  const query = useInfiniteQuery({
    queryKey: ["jobs", "health", ns ?? "", q, label],
    queryFn: ({ pageParam, signal }) =>
      call("job_list", {
        query: { namespace: ns, q, label, order: "name", with: "health", limit: PAGE, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    retry: (count, error) => count < 2 && !("status" in error),
  });
  const jobs = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  return { query, jobs };
}
