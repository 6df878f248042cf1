import { OCCURRENCE_FACES, type OccurrenceFace } from "@/lib/state/occurrence";
import type { CadenceColumn } from "./cadence";
import { barColour } from "./StateBadge";

interface ColumnsProps {
  columns: CadenceColumn[];
  x: (at: number) => number;
  top: number;
  floor: number;
  only: OccurrenceFace | undefined;
  wordOf: (face: OccurrenceFace) => string;
}

/** What went wrong stands on top, where it is seen. */
const ORDER = ["planned", "fired", "made_up", "merged", "skipped", "late", "missed"] as const;

/** Counts of moments as stacked columns: where there are too many for a mark each. */
export function CadenceColumns({ columns, x, top, floor, only, wordOf }: ColumnsProps) {
  const most = Math.max(1, ...columns.map((column) => column.total));
  return (
    <>
      <text className="ms-cadence-text" x={40} y={top + 4} textAnchor="end">
        {most}
      </text>
      <text className="ms-cadence-text" x={40} y={floor + 4} textAnchor="end">
        0
      </text>
      {columns.map((column) => {
        let base = floor;
        const left = x(column.from);
        const width = Math.max(1, x(column.until) - left - 1);
        return (
          <g key={column.from} className="ms-cadence-column">
            <title>
              {ORDER.flatMap((face) =>
                column.counts[face] ? `${wordOf(face)} ${column.counts[face]}` : [],
              ).join(", ")}
            </title>
            <rect x={left} y={top} width={width} height={floor - top} fill="transparent" />
            {ORDER.map((face) => {
              const size = ((column.counts[face] ?? 0) / most) * (floor - top);
              base -= size;
              return size > 0 ? (
                <rect
                  key={face}
                  x={left}
                  y={base}
                  width={width}
                  height={size}
                  opacity={only && only !== face ? 0.2 : 1}
                  style={{ fill: barColour(OCCURRENCE_FACES[face].tone) }}
                />
              ) : null;
            })}
          </g>
        );
      })}
    </>
  );
}
