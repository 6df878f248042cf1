import { expect, it } from "vitest";
import type { Attempt } from "@/lib/api/schema";
import { plan, scaleOf } from "./timeline";

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const attempt = (number: number, placed: number, started: number, finished?: number): Attempt => ({
  number,
  placed_at: at(placed),
  started_at: at(started),
  finished_at: finished === undefined ? null : at(finished),
});

it("parts an attempt into queue, start and run", () => {
  const { lanes, folds } = plan(at(0), [attempt(1, 1, 2, 10)], true, 99_000);
  expect(lanes[0]?.bars.map((bar) => [bar.part, bar.from, bar.until])).toEqual([
    ["queue", 0, 1000],
    ["start", 1000, 2000],
    ["run", 2000, 10_000],
  ]);
  expect(folds).toEqual([]);
});

it("folds a back-off that would take most of the width", () => {
  const planned = plan(at(0), [attempt(1, 0, 0, 10), attempt(2, 3610, 3610, 3620)], true, 0);
  expect(planned.folds).toEqual([{ from: 10_000, until: 3_610_000 }]);
  const x = scaleOf(planned);
  expect(x(0)).toBe(0);
  expect(x(10_000)).toBeCloseTo(0.45);
  expect(x(3_610_000)).toBeCloseTo(0.55);
  expect(x(3_620_000)).toBe(1);
});

it("ends at now while an attempt runs", () => {
  expect(plan(at(0), [attempt(1, 0, 0)], false, 5000).end).toBe(5000);
});
