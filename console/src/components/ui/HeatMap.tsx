import { type KeyboardEvent, useRef } from "react";
import { type HeatRow, short, stepOf } from "./heat";
import "./heat.css";

interface HeatMapProps {
  label: string;
  columns: string[];
  rows: HeatRow[];
  chosen: string | undefined;
  onPick: (key: string) => void;
}

/** Amounts by two coordinates. One cell can be reached with Tab, the others with the arrow keys. */
export function HeatMap({ label, columns, rows, chosen, onPick }: HeatMapProps) {
  const ref = useRef<HTMLTableElement>(null);
  const values = rows.flatMap((row) => row.cells.map((cell) => cell.value ?? 0));
  const most = Math.max(1, ...values);
  const first = rows.flatMap((row) => row.cells).find((cell) => cell.value !== undefined)?.key;
  const hasChosen = rows.some((row) => row.cells.some((cell) => cell.key === chosen));
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const [row, column] = (event.target as HTMLElement).dataset.place?.split(" ").map(Number) ?? [];
    if (!step || row === undefined || column === undefined) return;
    event.preventDefault();
    const place = `${row + (step[0] ?? 0)} ${column + (step[1] ?? 0)}`;
    ref.current?.querySelector<HTMLElement>(`[data-place="${place}"]`)?.focus();
  };
  return (
    <table className="ms-heat" ref={ref} aria-label={label} onKeyDown={onKey}>
      <thead>
        <tr>
          <td />
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, rowIndex) => (
          <tr key={row.key}>
            <th scope="row">
              <span className="ms-heat-detail">{row.detail} </span>
              {row.label}
            </th>
            {row.cells.map((cell, columnIndex) => (
              <td key={cell.key}>
                {cell.value !== undefined && (
                  <button
                    type="button"
                    data-place={`${rowIndex} ${columnIndex}`}
                    data-step={stepOf(cell.value, most)}
                    data-faint={cell.isFaint || undefined}
                    aria-pressed={cell.key === chosen}
                    aria-label={cell.label}
                    title={cell.label}
                    tabIndex={cell.key === (hasChosen ? chosen : first) ? 0 : -1}
                    onClick={() => onPick(cell.key)}
                  >
                    <span aria-hidden>{cell.value > 0 ? short(cell.value) : ""}</span>
                  </button>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
