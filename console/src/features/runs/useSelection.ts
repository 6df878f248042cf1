import { useCallback, useMemo, useState } from "react";
import type { Run } from "@/lib/api/schema";

/** Which rows are selected. Another query starts anew; live changes leave it alone. */
export function useSelection(rows: Run[], query: string) {
  const [state, setState] = useState<{ query: string; ids: ReadonlySet<string> }>({ query, ids: new Set() });
  const ids = state.query === query ? state.ids : new Set<string>();
  const set = useCallback((next: Set<string>) => setState({ query, ids: next }), [query]);
  const clear = useCallback(() => set(new Set()), [set]);
  const selected = useMemo(() => rows.filter((run) => ids.has(run.id)), [rows, ids]);
  const isAll = rows.length > 0 && selected.length === rows.length;
  return {
    rows: selected,
    clear,
    table: (label: string) => ({
      label,
      isAll,
      has: (id: string) => ids.has(id),
      toggle: (run: Run) => {
        const next = new Set(ids);
        if (!next.delete(run.id)) next.add(run.id);
        set(next);
      },
      toggleAll: () => set(isAll ? new Set() : new Set(rows.map((run) => run.id))),
    }),
  };
}
