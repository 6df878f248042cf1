import { OCCURRENCE_FACES, type OccurrenceFace } from "@/lib/state/occurrence";
import type { CadenceMark } from "./cadence";
import { barColour } from "./StateBadge";

interface ShapeProps {
  mark: CadenceMark;
  x: number;
  y: number;
  floor: number;
  through: number | undefined;
  isDimmed: boolean;
  isChosen: boolean;
}

/** The mark of one moment, with a stem when it was late, and a band when it stands for several. */
export function CadenceMarkShape({ mark, x, y, floor, through, isDimmed, isChosen }: ShapeProps) {
  const colour = barColour(OCCURRENCE_FACES[mark.face].tone);
  return (
    <g className="ms-cadence-mark" data-dimmed={isDimmed || undefined} style={{ color: colour }}>
      <title>{mark.label}</title>
      {isChosen && <circle className="ms-cadence-ring" cx={x} cy={y} r={9} />}
      {mark.face === "late" && <line x1={x} x2={x} y1={floor} y2={y} className="ms-cadence-stem" />}
      {through !== undefined && (
        <line x1={x} x2={Math.max(through, x + 2)} y1={y} y2={y} className="ms-cadence-band" />
      )}
      <FaceShape face={mark.face} x={x} y={y} />
      {through !== undefined && through > x + 10 && <FaceShape face={mark.face} x={through} y={y} />}
    </g>
  );
}

/** What became of a moment as a shape: it is told without its colour. */
export function FaceShape({ face, x, y }: { face: OccurrenceFace; x: number; y: number }) {
  switch (face) {
    case "fired":
      return <circle cx={x} cy={y} r={4} fill="currentColor" />;
    case "late":
      return <path d={`M${x} ${y - 5}l5 9h-10z`} fill="currentColor" />;
    case "merged":
      return (
        <path d={`M${x - 3} ${y - 5}v10M${x + 3} ${y - 5}v10M${x - 3} ${y}h6`} className="ms-cadence-line" />
      );
    case "skipped":
      return <path d={`M${x - 3} ${y + 5}l6 -10`} className="ms-cadence-line" />;
    case "missed":
      return <rect x={x - 4} y={y - 4} width={8} height={8} className="ms-cadence-hollow" />;
    case "made_up":
      return (
        <>
          <rect x={x - 4} y={y - 4} width={8} height={8} className="ms-cadence-hollow" />
          <rect x={x - 2} y={y - 2} width={4} height={4} fill="currentColor" />
        </>
      );
    case "planned":
      return <circle cx={x} cy={y} r={2} fill="currentColor" />;
  }
}
