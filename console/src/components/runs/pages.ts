// The loaded part of a list of runs, kept by keyset pages, and what events change in it. Plain functions on plain data: rows
// that are shown keep their place; new runs are counted, not inserted.
import type { Run, RunPage } from "@/lib/api/schema";
import type { WatchEvent } from "@/lib/live/message";

export interface RunPages {
  pages: RunPage[];
  pageParams: (string | undefined)[];
}

export const ROWS_MAX = 5000;

export const rowsOf = (data: RunPages | undefined): Run[] => data?.pages.flatMap((page) => page.items) ?? [];

/** A run's event put into its row: state, attempt and version. Tells on which page the row is, -1 when it is not loaded. */
export function applyEvent(
  data: RunPages,
  event: Extract<WatchEvent, { kind: "run" }>,
): { data: RunPages; page: number } {
  const page = data.pages.findIndex((each) => each.items.some((run) => run.id === event.id));
  const found = data.pages[page];
  if (!found) return { data, page: -1 };
  const items = found.items.map((run) => {
    if (run.id !== event.id || run.version > event.version) return run;
    return { ...run, state: event.state, attempt: event.attempt, version: event.version };
  });
  return { data: withPage(data, page, { ...found, items }), page };
}

/** A page that was read again: rows that are shown change in place; rows that are new come back apart. */
export function mergePage(data: RunPages, page: number, fresh: RunPage): { data: RunPages; added: Run[] } {
  const shown = data.pages[page];
  if (!shown) return { data, added: [] };
  const byId = new Map(fresh.items.map((run) => [run.id, run]));
  const known = new Set(rowsOf(data).map((run) => run.id));
  const items = shown.items.map((run) => {
    const now = byId.get(run.id);
    return now && now.version >= run.version ? now : run;
  });
  return {
    data: withPage(data, page, { ...shown, items }),
    added: fresh.items.filter((run) => !known.has(run.id)),
  };
}

/** Puts new runs on top. */
export function showAdded(data: RunPages, added: Run[]): RunPages {
  const first = data.pages[0];
  if (!first) return data;
  const known = new Set(first.items.map((run) => run.id));
  return withPage(data, 0, {
    ...first,
    items: [...added.filter((run) => !known.has(run.id)), ...first.items],
  });
}

function withPage(data: RunPages, index: number, page: RunPage): RunPages {
  return { ...data, pages: data.pages.map((each, at) => (at === index ? page : each)) };
}
