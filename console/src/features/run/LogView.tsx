import { type KeyboardEvent, useRef } from "react";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { ROW_PX } from "@/lib/log/window";
import { clock, duration } from "@/lib/time/format";
import { LogLine } from "./LogLine";
import type { Found, ShownRow, TimeMode } from "./logRows";
import { useEdges, useKeptPlace, useRowOnce } from "./useLogScroll";
import { useLogWindow } from "./useLogWindow";
import { WrappedRows } from "./WrappedRows";

interface LogViewProps {
  rows: ShownRow[];
  found: Found;
  current: number;
  time: TimeMode;
  startedAt: number | undefined;
  wrap: boolean;
  follow: boolean;
  onFollow: (follow: boolean) => void;
  /** The reader comes near the first row, or the last. */
  onFirst: () => void;
  onLast: () => void;
  /** The row that the page's address links to. */
  line: string | undefined;
  /** The row to go to. */
  target: string | undefined;
  onLine: (key: string) => void;
}

/** The lines. It scrolls its own box, never the page, and leaves the end alone while the reader is elsewhere. */
export function LogView(props: LogViewProps) {
  const { rows, found, current, time, startedAt, wrap, follow, onFollow, line, target, onLine } = props;
  const { t } = useTranslation();
  const zone = useZone();
  const box = useRef<HTMLDivElement>(null);
  const view = useLogWindow(box, rows.length, follow && !wrap, () => onFollow(false));
  useKeptPlace(rows, view);
  useRowOnce(line, rows, view.toRow);
  useRowOnce(target, rows, view.toRow);
  useEdges(view, rows.length, follow || wrap, props.onFirst, props.onLast);

  const timeOf = (index: number): string => {
    const row = rows[index];
    if (!row || time === "off") return "";
    if (time === "clock") return clock(row.at, zone, true);
    if (time === "start") return duration(row.at - (startedAt ?? rows[0]?.at ?? row.at));
    return index === 0 ? "" : `+${duration(row.at - (rows[index - 1]?.at ?? row.at))}`;
  };

  const onKey = (event: KeyboardEvent) => {
    const page = view.viewport - ROW_PX;
    const moves: Record<string, number> = {
      Home: 0,
      End: view.most,
      PageUp: view.position - page,
      PageDown: view.position + page,
      ArrowUp: view.position - ROW_PX,
      ArrowDown: view.position + ROW_PX,
    };
    const to = moves[event.key];
    if (to === undefined || wrap) return;
    event.preventDefault();
    if (event.key === "End" || follow) onFollow(event.key === "End");
    view.moveTo(to);
  };

  const draw = (index: number) => {
    const row = rows[index];
    if (!row) return null;
    return (
      <LogLine
        key={row.key}
        row={row}
        time={timeOf(index)}
        pattern={found.set.has(index) ? found.pattern : undefined}
        isCurrent={index === current}
        isLinked={row.key === line}
        onLink={onLine}
      />
    );
  };

  const { from, until, offset } = view.slice;
  return (
    <div
      className="ms-log"
      ref={box}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label={t("run.log.label")}
      data-wrap={wrap || undefined}
      onScroll={wrap ? undefined : view.onScroll}
      onWheel={wrap ? undefined : view.onWheel}
      onKeyDown={onKey}
      onMouseUp={() => String(getSelection() ?? "") && onFollow(false)}
    >
      {wrap ? (
        <WrappedRows box={box} rows={rows} follow={follow} draw={draw} />
      ) : (
        <div style={{ height: view.window.spacer, position: "relative" }}>
          <div className="ms-log-rows" style={{ transform: `translateY(${offset}px)` }}>
            {Array.from({ length: until - from }, (_, index) => draw(from + index))}
          </div>
        </div>
      )}
    </div>
  );
}
