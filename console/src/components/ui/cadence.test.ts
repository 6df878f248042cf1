import { expect, it } from "vitest";
import { type CadenceMark, columnsOf, lateScale, nearest } from "./cadence";

const HOUR = 3_600_000;
const mark = (at: number, more: Partial<CadenceMark> = {}): CadenceMark => ({
  at,
  count: 1,
  face: "fired",
  lateMs: 0,
  label: "",
  ...more,
});

it("scales lateness so that seconds and days are both seen", () => {
  const { ticks, of } = lateScale([mark(0, { lateMs: 20 * HOUR }), mark(1, { lateMs: 2000 })], 140);
  expect(of(0)).toBe(0);
  expect(of(24 * HOUR)).toBe(1);
  expect(of(2000)).toBeGreaterThan(0.05);
  expect(ticks.at(0)).toBe(0);
  expect(ticks.at(-1)).toBe(24 * HOUR);
  const heights = ticks.map((tick) => of(tick) * 140);
  for (const [index, height] of heights.entries()) {
    if (index > 0) expect(height - (heights[index - 1] ?? 0)).toBeGreaterThanOrEqual(18);
  }
});

it("counts by hour, by day when hours are too many, and loses none", () => {
  const marks = Array.from({ length: 500 }, (_, index) =>
    mark(index * 600_000, { face: index % 7 ? "fired" : "missed" }),
  );
  const hours = columnsOf(marks, 0, 500 * 600_000, "UTC");
  expect(hours).toHaveLength(84);
  expect(hours.reduce((sum, column) => sum + column.total, 0)).toBe(500);
  expect(hours[0]).toMatchObject({ from: 0, until: HOUR, counts: { missed: 1, fired: 5 } });
  const days = columnsOf(marks, 0, 300 * HOUR, "Asia/Shanghai");
  expect(days.map((column) => column.until - column.from)).toEqual(days.map(() => 24 * HOUR));
  expect(columnsOf([mark(0, { count: 40, face: "missed" })], 0, HOUR, "UTC")[0]?.total).toBe(40);
  const row = columnsOf([mark(0, { count: 40, through: 3 * HOUR, face: "missed" })], 0, 9 * HOUR, "UTC");
  expect(row.map((column) => column.total)).toEqual([10, 10, 10, 10]);
});

it("finds the nearest mark, and the one that stands for several", () => {
  const marks = [mark(0, { through: 100, count: 5 }), mark(300)];
  expect(nearest(marks, 60)).toBe(0);
  expect(nearest(marks, 190)).toBe(0);
  expect(nearest(marks, 260)).toBe(1);
  expect(nearest([], 5)).toBe(-1);
});
