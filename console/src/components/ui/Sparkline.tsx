const WIDTH = 88;
const HEIGHT = 20;

/** A small line of what was used, against what there is; gaps are minutes in which nothing was heard. */
export function Sparkline({
  values,
  most,
  label,
}: {
  values: (number | null)[];
  most: number;
  label: string;
}) {
  const step = WIDTH / Math.max(1, values.length - 1);
  const y = (value: number) => HEIGHT - 1 - (Math.min(value, most) / (most || 1)) * (HEIGHT - 2);
  const lines = runsOf(values).map((run) =>
    run.map(([at, value]) => `${(at * step).toFixed(1)},${y(value).toFixed(1)}`).join(" "),
  );
  return (
    <svg className="ms-sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <title>{label}</title>
      {lines.map((points) => (
        <polyline key={points} points={points.includes(" ") ? points : `${points} ${points}`} />
      ))}
    </svg>
  );
}

/** Values with their places, cut at the gaps. */
export function runsOf(values: (number | null)[]): [number, number][][] {
  const runs: [number, number][][] = [];
  let open: [number, number][] | undefined;
  values.forEach((value, at) => {
    if (value === null) {
      open = undefined;
      return;
    }
    if (!open) {
      open = [];
      runs.push(open);
    }
    open.push([at, value]);
  });
  return runs;
}
