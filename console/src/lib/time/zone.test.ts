import { describe, expect, it } from "vitest";
import { fromInput, isZone, momentOf, ticks, toInput, wallOf } from "./zone";

const HOUR = 3_600_000;

describe("zones", () => {
  it("reads and writes wall clocks", () => {
    const at = Date.parse("2026-11-17T18:00:00Z");
    expect(toInput(at, "Asia/Shanghai")).toBe("2026-11-18T02:00:00");
    expect(fromInput("2026-11-18T02:00", "Asia/Shanghai")).toBe(at);
    expect(fromInput("", "UTC")).toBeUndefined();
    expect(isZone("Nowhere/Else")).toBe(false);
  });

  it("survives turned clocks", () => {
    // Berlin: 02:30 is left out on 29 March 2026, and comes twice on 25 October.
    const gap = fromInput("2026-03-29T02:30:00", "Europe/Berlin") ?? 0;
    expect(new Date(gap).toISOString()).toBe("2026-03-29T01:30:00.000Z");
    const twice = fromInput("2026-10-25T02:30:00", "Europe/Berlin") ?? 0;
    expect(toInput(twice, "Europe/Berlin")).toBe("2026-10-25T02:30:00");
    for (let at = Date.parse("2026-01-01T00:00:00Z"); at < Date.parse("2027-01-01T00:00:00Z"); at += HOUR) {
      const wall = wallOf(at, "Europe/Berlin");
      expect(wallOf(momentOf(wall, "Europe/Berlin"), "Europe/Berlin")).toBe(wall);
    }
  });

  it("finds round times of a zone", () => {
    const from = Date.parse("2026-11-17T10:00:00Z");
    const days = ticks(from, from + 5 * 24 * HOUR, "Asia/Shanghai", 8);
    expect(days.map((at) => toInput(at, "Asia/Shanghai").slice(11))).toEqual(
      days.map(() => expect.stringMatching(/^(00|12):00:00$/)),
    );
    expect(ticks(from, from + HOUR, "UTC", 8)).toHaveLength(5);
    expect(ticks(from, from, "UTC", 8).length).toBeLessThan(2);
    expect(ticks(from, from + 4000 * 24 * HOUR, "UTC", 8).length).toBeLessThanOrEqual(9);
  });
});
