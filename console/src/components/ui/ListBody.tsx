import type { ReactNode } from "react";
import { ErrorFace } from "./ErrorFace";
import { TableSkeleton } from "./TableSkeleton";

interface ListBodyProps {
  query: { isPending: boolean; error: unknown; hasNextPage: boolean; refetch: () => unknown };
  /** Rows that were loaded, and those of them that the filter leaves. */
  loaded: number;
  shown: number;
  /** Nothing exists. */
  empty: ReactNode;
  /** Nothing matches. */
  noMatch: ReactNode;
  children: ReactNode;
}

/** The faces of a list: loading, not readable, nothing there, nothing that matches, and the table. */
export function ListBody({ query, loaded, shown, empty, noMatch, children }: ListBodyProps) {
  if (query.isPending) return <TableSkeleton />;
  if (query.error && loaded === 0) {
    return <ErrorFace error={query.error} onRetry={() => void query.refetch()} />;
  }
  if (loaded === 0 && !query.hasNextPage) return empty;
  if (shown === 0 && !query.hasNextPage) return noMatch;
  return children;
}
