// Where the bars of the timeline stand. Idle time that would take more than a quarter of the width is folded.
import type { Attempt } from "@/lib/api/schema";
import { millis } from "@/lib/time/format";

export type Part = "queue" | "start" | "run" | "backoff";

export interface Bar {
  part: Part;
  from: number;
  until: number;
}

export interface Lane {
  attempt: Attempt;
  bars: Bar[];
  isOpen: boolean;
}

export interface Fold {
  from: number;
  until: number;
}

export interface Plan {
  lanes: Lane[];
  begin: number;
  end: number;
  folds: Fold[];
}

const FOLD_SHARE = 0.25;
const FOLD_WIDTH = 0.1;

export function plan(created: string, attempts: Attempt[], isOver: boolean, now: number): Plan {
  const begin = millis(created) ?? now;
  let before = begin;
  const lanes = attempts.map((attempt, index) => {
    const placed = millis(attempt.placed_at) ?? before;
    const started = millis(attempt.started_at);
    const finished = millis(attempt.finished_at);
    const isOpen = finished === undefined && !isOver;
    const end = finished ?? (isOver ? (started ?? placed) : Math.max(now, started ?? placed));
    const bars: Bar[] = [{ part: index === 0 ? "queue" : "backoff", from: before, until: placed }];
    bars.push({ part: "start", from: placed, until: started ?? end });
    if (started !== undefined) bars.push({ part: "run", from: started, until: end });
    before = end;
    return { attempt, bars: bars.filter((bar) => bar.until > bar.from), isOpen };
  });
  const end = Math.max(before, begin + 1);
  return { lanes, begin, end, folds: folds(lanes, begin, end) };
}

/** Long times of waiting, which tell nothing by their length. */
function folds(lanes: Lane[], begin: number, end: number): Fold[] {
  const idle = lanes.flatMap((lane) =>
    lane.bars.filter((bar) => bar.part === "queue" || bar.part === "backoff"),
  );
  return idle
    .filter((bar) => bar.until - bar.from > FOLD_SHARE * (end - begin))
    .map(({ from, until }) => ({ from, until }));
}

/** A function from a moment to a share of the width, 0 to 1. */
export function scaleOf({ begin, end, folds }: Plan): (at: number) => number {
  const folded = folds.reduce((sum, fold) => sum + fold.until - fold.from, 0);
  const kept = Math.max(1, end - begin - folded);
  const room = 1 - folds.length * FOLD_WIDTH;
  return (at) => {
    let time = at - begin;
    let share = 0;
    for (const fold of folds) {
      if (at >= fold.until) {
        time -= fold.until - fold.from;
        share += FOLD_WIDTH;
      } else if (at > fold.from) {
        time -= at - fold.from;
        share += FOLD_WIDTH * ((at - fold.from) / (fold.until - fold.from));
      }
    }
    return Math.min(1, Math.max(0, (time / kept) * room + share));
  };
}
