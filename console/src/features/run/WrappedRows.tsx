import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useEffect } from "react";
import { ROW_PX } from "@/lib/log/window";
import type { ShownRow } from "./logRows";

interface WrappedRowsProps {
  box: RefObject<HTMLDivElement | null>;
  rows: ShownRow[];
  follow: boolean;
  draw: (index: number) => ReactNode;
}

/** Lines of different heights, measured as they are drawn. */
export function WrappedRows({ box, rows, follow, draw }: WrappedRowsProps) {
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  useEffect(() => {
    if (follow && rows.length > 0) virtual.scrollToIndex(rows.length - 1, { align: "end" });
  }, [follow, rows.length, virtual]);
  return (
    <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
      {virtual.getVirtualItems().map((item) => (
        <div
          key={item.key}
          ref={virtual.measureElement}
          data-index={item.index}
          className="ms-log-wrapped"
          style={{ transform: `translateY(${item.start}px)` }}
        >
          {draw(item.index)}
        </div>
      ))}
    </div>
  );
}
