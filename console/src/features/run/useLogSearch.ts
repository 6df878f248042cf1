// Search on the server, for a log that is not all here: how many lines match, and where the first of them are.
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError, call } from "@/lib/api/client";
import type { LogMatch, LogMatches } from "@/lib/api/schema";
import type { LogSearch } from "./LogToolbar";

const LISTED = 1000;
const TYPING_MS = 250;
const FRESH_MS = 15_000;

export interface ServerFound {
  matches: LogMatch[];
  count: number;
  /** The server does not take it for a pattern. */
  isBroken: boolean;
  /** Lists more of those that were only counted. */
  more: () => Promise<LogMatch[]>;
}

interface Known {
  matches: LogMatch[];
  count: number;
}

/** What the server finds; nothing while it searches, or when it is not asked. */
export function useLogSearch(
  run: string,
  attempt: number,
  search: LogSearch,
  enabled: boolean,
): ServerFound | undefined {
  const client = useQueryClient();
  const [text] = useDebouncedValue(search.find, TYPING_MS);
  const key = ["log-search", run, attempt, text, search.re, search.case, search.stream];
  const ask = (from: { offset: number; index?: number }, signal?: AbortSignal): Promise<LogMatches> =>
    call("run_log_search", {
      path: { run },
      query: {
        attempt,
        text,
        regex: search.re,
        case: search.case,
        limit: LISTED,
        ...(search.stream && { stream: search.stream }),
        ...from,
      },
      ...(signal && { signal }),
    });
  const found = useQuery({
    queryKey: key,
    enabled: enabled && text !== "" && text === search.find,
    staleTime: FRESH_MS,
    retry: false,
    queryFn: async ({ signal }): Promise<Known> => {
      const known: Known = { matches: [], count: 0 };
      for (let offset: number | null | undefined = 0; typeof offset === "number"; ) {
        const part: LogMatches = await ask({ offset }, signal);
        // Those that are listed have none between them that are only counted.
        if (known.matches.length === known.count) known.matches.push(...part.matches);
        known.count += part.count;
        offset = part.next_offset;
      }
      return known;
    },
  });
  if (found.error instanceof ApiError && found.error.status === 422) {
    return { matches: [], count: 0, isBroken: true, more: async () => [] };
  }
  const known = found.data;
  if (!known || !enabled || text !== search.find) return undefined;
  return {
    ...known,
    isBroken: false,
    more: async () => {
      const last = known.matches.at(-1);
      if (!last || known.matches.length >= known.count) return known.matches;
      let part = await ask({ offset: last.offset, index: last.index + 1 });
      while (part.matches.length === 0 && typeof part.next_offset === "number") {
        part = await ask({ offset: part.next_offset });
      }
      const matches = [...known.matches, ...part.matches];
      client.setQueryData(key, { matches, count: Math.max(known.count, matches.length) });
      return matches;
    },
  };
}
