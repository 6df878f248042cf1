import { Skeleton } from "@mantine/core";

const WIDTHS = ["72%", "64%", "80%", "58%", "76%", "68%", "83%", "61%"];

/** The layout of a table before its rows are there. */
export function TableSkeleton() {
  return (
    <div className="ms-table-skeleton" aria-busy="true">
      {WIDTHS.map((width) => (
        <Skeleton key={width} height={14} width={width} />
      ))}
    </div>
  );
}
