import { ticks, toInput } from "@/lib/time/zone";

interface TimeAxisProps {
  from: number;
  until: number;
  zone: string;
  x: (at: number) => number;
  y: number;
  width: number;
}

const TICK_WIDTH = 72;

/** Round times of a zone below a chart: the clock, and the day where it begins. */
export function TimeAxis({ from, until, zone, x, y, width }: TimeAxisProps) {
  const marks = ticks(from, until, zone, Math.max(2, Math.floor(width / TICK_WIDTH)));
  let day = "";
  return marks.map((at) => {
    const text = toInput(at, zone);
    const date = text.slice(5, 10);
    const time = text.slice(11).replace(/:00$/, "");
    const isNewDay = date !== day;
    day = date;
    return (
      <g key={at}>
        <line className="ms-cadence-grid" x1={x(at)} x2={x(at)} y1={y} y2={y + 4} />
        <text className="ms-cadence-text" x={x(at)} y={y + 16} textAnchor="middle">
          {isNewDay ? date : time}
        </text>
        {isNewDay && time !== "00:00" && (
          <text className="ms-cadence-text" x={x(at)} y={y + 28} textAnchor="middle">
            {time}
          </text>
        )}
      </g>
    );
  });
}
