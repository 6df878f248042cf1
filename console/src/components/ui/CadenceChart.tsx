import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useMemo, useRef, useState } from "react";
import type { OccurrenceFace } from "@/lib/state/occurrence";
import { duration } from "@/lib/time/format";
import { CadenceColumns } from "./CadenceColumns";
import { CadenceMarkShape } from "./CadenceMarkShape";
import { type CadenceMark, columnsOf, lateScale, MARKS_MAX, nearest } from "./cadence";
import { TimeAxis } from "./TimeAxis";
import "./cadence.css";

export interface Range {
  from: number;
  until: number;
}

interface CadenceChartProps {
  label: string;
  marks: CadenceMark[];
  from: number;
  until: number;
  zone: string;
  now: number;
  /** The word at the line of now. */
  nowLabel: string;
  wordOf: (face: OccurrenceFace) => string;
  /** Only these keep their colour. */
  only?: OccurrenceFace | undefined;
  /** The moment that is opened. */
  chosen?: number | undefined;
  brush?: Range | undefined;
  height?: number;
  onPick?: (mark: CadenceMark) => void;
  onBrush?: (range: Range | undefined) => void;
  /** A column was picked: its hour or day. */
  onZoom?: (range: Range) => void;
}

const LEFT = 48;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 30;
/** A pointer that moved less than this picks; more brushes. */
const SLIP = 5;

/** One mark for each planned moment: its place is when it was planned, its height how late it fired, its shape what became of it. */
export function CadenceChart(props: CadenceChartProps) {
  const { marks, from, until, zone, onPick, onBrush, onZoom } = props;
  const { ref, width } = useElementSize<HTMLDivElement>();
  const height = props.height ?? 190;
  const drag = useRef<number>(undefined);
  const [dragged, setDragged] = useState<Range>();
  /** Where a range began that is widened with Shift and the arrow keys. */
  const anchor = useRef<number>(undefined);
  const floor = height - BOTTOM;
  const scale = useMemo(() => lateScale(marks, floor - TOP), [marks, floor]);
  const columns = useMemo(
    () => (marks.length > MARKS_MAX ? columnsOf(marks, from, until, zone) : undefined),
    [marks, from, until, zone],
  );
  const inner = Math.max(1, width - LEFT - RIGHT);
  const span = Math.max(1, until - from);
  const x = (at: number) => LEFT + ((at - from) / span) * inner;
  const y = (ms: number) => floor - scale.of(ms) * (floor - TOP);
  const timeAt = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / inner;
    return from + Math.min(1, Math.max(0, share)) * span;
  };
  const onUp = (event: PointerEvent) => {
    const begin = drag.current;
    drag.current = undefined;
    setDragged(undefined);
    if (begin === undefined) return;
    const end = timeAt(event);
    if (Math.abs(x(end) - x(begin)) >= SLIP && onBrush) {
      onBrush({ from: Math.min(begin, end), until: Math.max(begin, end) });
      return;
    }
    const column = columns?.find((each) => end >= each.from && end < each.until);
    if (columns) {
      if (column) onZoom?.({ from: column.from, until: column.until });
      return;
    }
    const mark = marks[nearest(marks, end)];
    if (mark && Math.abs(x(mark.at) - x(end)) < 24) onPick?.(mark);
  };
  const at = marks.findIndex((mark) => mark.at === props.chosen);
  const onKey = (event: KeyboardEvent) => {
    const last = marks.length - 1;
    const to = {
      ArrowLeft: at < 0 ? last : Math.max(0, at - 1),
      ArrowRight: at < 0 ? 0 : Math.min(last, at + 1),
      Home: 0,
      End: last,
    }[event.key];
    const mark = to === undefined ? undefined : marks[to];
    if (mark === undefined) return;
    event.preventDefault();
    if (event.shiftKey && onBrush) {
      anchor.current ??= marks[at]?.at ?? mark.at;
      onBrush({ from: Math.min(anchor.current, mark.at), until: Math.max(anchor.current, mark.at) });
    } else anchor.current = undefined;
    onPick?.(mark);
  };
  const brush = dragged ?? props.brush;
  const current = marks[at];
  return (
    <div
      ref={ref}
      className="ms-cadence"
      role="slider"
      tabIndex={0}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, marks.length - 1)}
      aria-valuenow={Math.max(0, at)}
      aria-valuetext={current?.label ?? props.label}
      data-brushes={onBrush ? true : undefined}
      style={{ height }}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        drag.current = timeAt(event);
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const begin = drag.current;
        if (begin === undefined || !onBrush) return;
        const end = timeAt(event);
        setDragged({ from: Math.min(begin, end), until: Math.max(begin, end) });
      }}
      onPointerUp={onUp}
      onPointerCancel={() => {
        drag.current = undefined;
        setDragged(undefined);
      }}
    >
      {width > 0 && (
        <svg width={width} height={height} aria-hidden>
          {columns === undefined &&
            scale.ticks.map((tick) => (
              <g key={tick}>
                <line className="ms-cadence-grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
                <text className="ms-cadence-text" x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
                  {tick === 0 ? "0 s" : duration(tick).replace(".0", "")}
                </text>
              </g>
            ))}
          {columns && <line className="ms-cadence-grid" x1={LEFT} x2={width - RIGHT} y1={floor} y2={floor} />}
          <TimeAxis from={from} until={until} zone={zone} x={x} y={floor} width={inner} />
          {props.now > from && props.now < until && (
            <g>
              <line className="ms-cadence-now" x1={x(props.now)} x2={x(props.now)} y1={TOP - 4} y2={floor} />
              <text
                className="ms-cadence-text"
                x={x(props.now)}
                y={TOP - 5}
                textAnchor={x(props.now) > width - 40 ? "end" : "middle"}
              >
                {props.nowLabel}
              </text>
            </g>
          )}
          {brush && (
            <rect
              className="ms-cadence-brush"
              x={x(Math.max(from, brush.from)) - 6}
              width={Math.max(0, x(Math.min(until, brush.until)) - x(Math.max(from, brush.from))) + 12}
              y={TOP - 4}
              height={floor - TOP + 10}
              rx={3}
            />
          )}
          {columns ? (
            <CadenceColumns
              columns={columns}
              x={x}
              top={TOP}
              floor={floor}
              only={props.only}
              wordOf={props.wordOf}
            />
          ) : (
            marks.map((mark) => (
              <CadenceMarkShape
                key={`${mark.at} ${mark.face}`}
                mark={mark}
                x={x(mark.at)}
                through={mark.through === undefined ? undefined : x(Math.min(until, mark.through))}
                y={y(mark.lateMs ?? 0)}
                floor={floor}
                isDimmed={props.only !== undefined && props.only !== mark.face}
                isChosen={mark.at === props.chosen}
              />
            ))
          )}
        </svg>
      )}
    </div>
  );
}
