import { describe, expect, it } from "vitest";
import type { Occurrence } from "@/lib/api/schema";
import { counts, durationMs, medianLate, momentsOf, windowOf } from "./ledger";

const line = (planned: string, more: Partial<Occurrence> = {}): Occurrence => ({
  planned,
  at: planned,
  outcome: "fired",
  late_ms: 0,
  count: 1,
  ...more,
});

describe("momentsOf", () => {
  it("tells late firings beyond the jitter", () => {
    const lines = [line("2026-01-01T00:00:00Z", { late_ms: 14_000 })];
    expect(momentsOf(lines, [], 0)[0]?.face).toBe("late");
    expect(momentsOf(lines, [], 5000)[0]?.face).toBe("fired");
  });

  it("joins a missed moment with the backfill that made up for it", () => {
    const own = line("2026-01-01T00:00:00Z", { outcome: "missed" });
    const backfill = line("2026-01-01T00:00:00Z", { backfill: "bf_1", run: "run_1", late_ms: 9e9 });
    const [moment, ...rest] = momentsOf([backfill, own], [], 0);
    expect(rest).toEqual([]);
    expect(moment).toMatchObject({ face: "made_up", lateMs: undefined, line: own, madeUp: backfill });
  });

  it("keeps a fired moment that a backfill ran again", () => {
    const own = line("2026-01-01T00:00:00Z");
    const again = line("2026-01-01T00:00:00Z", { backfill: "bf_1" });
    expect(momentsOf([own, again], [], 0)[0]).toMatchObject({ face: "fired", madeUp: again });
  });

  it("keeps the row of several beside one of them that was made up for", () => {
    const several = line("2026-01-01T00:00:00Z", {
      outcome: "missed",
      through: "2026-01-01T05:00:00Z",
      count: 6,
    });
    const first = line("2026-01-01T00:00:00Z", { backfill: "bf_1" });
    const moments = momentsOf([several, first], [], 0);
    expect(moments.map(({ face, count }) => [face, count])).toEqual([
      ["missed", 6],
      ["made_up", 1],
    ]);
  });

  it("adds what is planned, once, in order", () => {
    const at = Date.parse("2026-01-01T00:00:00Z");
    const moments = momentsOf([line("2026-01-01T00:00:00Z")], [at + 1000, at], 0);
    expect(moments.map(({ face }) => face)).toEqual(["fired", "planned"]);
  });

  it("says when nobody counted", () => {
    const { count: _, ...many } = line("2026-01-01T00:00:00Z", {
      outcome: "missed",
      through: "2027-01-01T00:00:00Z",
    });
    expect(counts(momentsOf([many], [], 0)).get("missed")).toEqual({ count: 1, isExact: false });
  });
});

it("reads durations and windows", () => {
  expect(durationMs("1h30m")).toBe(5_400_000);
  expect(durationMs("250ms")).toBe(250);
  expect(durationMs(undefined)).toBe(0);
  expect(windowOf({ from: "-24h" }, 86_400_000)).toEqual({ from: 0, until: undefined });
  expect(windowOf({}, 5)).toEqual({ from: undefined, until: undefined });
  expect(medianLate([])).toBeUndefined();
});
