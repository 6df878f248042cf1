// What scrolling has to do with what is loaded: rows that come before move nothing, a row that is gone to is gone to once, and
// near an end more is loaded.
import { useEffect, useLayoutEffect, useRef } from "react";
import { ROW_PX } from "@/lib/log/window";
import type { ShownRow } from "./logRows";
import type { useLogWindow } from "./useLogWindow";

type View = ReturnType<typeof useLogWindow>;

/** Rows this near an end. */
const NEAR_ROWS = 40;

/** Keeps what is read where it is when rows are loaded, or let go, before it. */
export function useKeptPlace(rows: ShownRow[], view: View) {
  const known = useRef(rows);
  useLayoutEffect(() => {
    const before = known.current;
    known.current = rows;
    const [was, is] = [before[0], rows[0]];
    if (!was || !is || was.key === is.key) return;
    const added = rows.findIndex((row) => row.key === was.key);
    const gone = added < 0 ? before.findIndex((row) => row.key === is.key) : -1;
    const by = added > 0 ? added : -Math.max(gone, 0);
    if (by !== 0) view.moveTo(view.position + by * ROW_PX);
  }, [rows, view]);
}

/** Goes to a row when it is there, once. */
export function useRowOnce(key: string | undefined, rows: ShownRow[], toRow: (row: number) => void) {
  const done = useRef<string>(undefined);
  useEffect(() => {
    if (!key) done.current = undefined;
    if (!key || done.current === key) return;
    const at = rows.findIndex((row) => row.key === key);
    if (at < 0) return;
    done.current = key;
    toRow(at);
  }, [key, rows, toRow]);
}

/** Tells that the reader, who does not follow, comes near an end. */
export function useEdges(
  view: View,
  rows: number,
  isAside: boolean,
  onFirst: () => void,
  onLast: () => void,
) {
  const tell = useRef({ onFirst, onLast });
  tell.current = { onFirst, onLast };
  const { from, until } = view.slice;
  const isScrolled = view.isScrolled;
  useEffect(() => {
    if (isAside || !isScrolled || rows === 0) return;
    if (from < NEAR_ROWS) tell.current.onFirst();
    if (until > rows - NEAR_ROWS) tell.current.onLast();
  }, [from, until, rows, isAside, isScrolled]);
}
