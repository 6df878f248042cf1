import { expect, it } from "vitest";
import { stepOf } from "@/components/ui/heat";
import { dayBegin, daysLater, daysOf, hoursOf } from "./load";

const report = (from: string, firings: number[]) => ({
  from,
  pools: [
    { pool: "a", firings, busy_ms: firings.map(() => 1000) },
    { pool: "b", firings: firings.map(() => 1), busy_ms: firings.map(() => 0) },
  ],
});

it("adds pools and lays hours out by day of the zone", () => {
  const hours = hoursOf(
    report(
      "2026-11-17T16:00:00Z",
      Array.from({ length: 30 }, (_, hour) => hour),
    ),
  );
  expect(hours[3]).toEqual({ at: Date.parse("2026-11-17T19:00:00Z"), firings: 4, busyMs: 1000 });
  expect(hoursOf(report("2026-11-17T16:00:00Z", [5]), "a")[0]?.firings).toBe(5);
  const days = daysOf(hours, "Asia/Shanghai");
  expect(days.map((day) => new Date(day.wall).toISOString().slice(0, 10))).toEqual([
    "2026-11-18",
    "2026-11-19",
  ]);
  expect(days[0]?.hours[0]?.firings).toBe(1);
  expect(days[1]?.hours[6]).toBeUndefined();
});

it("keeps every firing when clocks are turned", () => {
  const turned = (from: string) =>
    daysOf(
      hoursOf(
        report(
          from,
          Array.from({ length: 25 }, () => 9),
        ),
      ),
      "Europe/Berlin",
    );
  const back = turned("2026-10-24T22:00:00Z");
  expect(back).toHaveLength(1);
  expect(back[0]?.hours[2]?.firings).toBe(20);
  const forward = turned("2026-03-28T23:00:00Z");
  expect(forward[0]?.hours[2]).toBeUndefined();
  expect(dayBegin(Date.parse("2026-10-25T12:00:00Z"), "Europe/Berlin")).toBe(
    Date.parse("2026-10-24T22:00:00Z"),
  );
  expect(daysLater(Date.parse("2026-10-24T22:00:00Z"), 1, "Europe/Berlin")).toBe(
    Date.parse("2026-10-25T23:00:00Z"),
  );
});

it("tells few from many", () => {
  expect([0, 1, 4, 25, 100].map((value) => stepOf(value, 100))).toEqual([0, 1, 1, 3, 5]);
  expect(stepOf(undefined, 100)).toBe(0);
});
