import { describe, expect, it } from "vitest";
import {
  blackoutsOf,
  type Draft,
  daysOf,
  monthsOf,
  parseDays,
  toDraft,
  toggled,
  toSpec,
  wrongsOf,
} from "./calendar";

const draft = (more: Partial<Draft> = {}): Draft => ({ ...toDraft({}), weekend: ["sat", "sun"], ...more });
const day = (text: string) => Date.parse(`${text}T00:00:00Z`);
const kind = (of: Draft, text: string) => daysOf(toSpec(of))(day(text));

describe("calendar", () => {
  it("reads days, spans and days of every year", () => {
    expect(parseDays("2026-02-30")).toBeUndefined();
    expect(parseDays("02-29")).toEqual({ yearly: "02-29" });
    expect(parseDays("2026-12-24..2026-12-01")).toBeUndefined();
    expect(parseDays("2026-12-24..2026-12-26")).toMatchObject({
      from: day("2026-12-24"),
      to: day("2026-12-26"),
    });
    expect(parseDays("13-01")).toBeUndefined();
  });

  it("says what a day is", () => {
    const one = draft({ off: "2026-12-24..2027-01-01\n05-01", working: "2026-10-10\n2027-05-01" });
    expect(kind(one, "2026-10-09")).toBe("work");
    expect(kind(one, "2026-10-10")).toBe("extra");
    expect(kind(one, "2026-10-11")).toBe("weekend");
    expect(kind(one, "2026-12-31")).toBe("off");
    expect(kind(one, "2026-05-01")).toBe("yearly");
    expect(kind(one, "2027-05-01")).toBe("extra");
  });

  it("toggles a day there and back", () => {
    const monday = toggled(draft(), day("2026-11-16"));
    expect(monday.off).toBe("2026-11-16");
    expect(toggled(monday, day("2026-11-16"))).toEqual(draft());
    const saturday = toggled(draft(), day("2026-11-14"));
    expect(saturday.working).toBe("2026-11-14");
    expect(toggled(saturday, day("2026-11-14"))).toEqual(draft());
    const span = toggled(draft({ off: "2026-11-16..2026-11-18" }), day("2026-11-17"));
    expect(span.off.split("\n")).toEqual(["2026-11-16", "2026-11-18"]);
    expect(kind(span, "2026-11-17")).toBe("work");
    const holiday = toggled(draft({ off: "2026-11-14" }), day("2026-11-14"));
    expect(kind(holiday, "2026-11-14")).toBe("extra");
  });

  it("names entries that cannot be read", () => {
    const spec = toSpec(
      draft({ off: "2026-12-25\n\nChristmas", working: "12-25", blackouts: "22:00-06:00\n25:00-26:00" }),
    );
    expect(wrongsOf(spec).map(({ list, index }) => `${list}[${index}]`)).toEqual([
      "off[1]",
      "working[0]",
      "blackouts[1]",
    ]);
  });

  it("draws months and blackouts", () => {
    const months = monthsOf(2026);
    expect(months).toHaveLength(12);
    expect(months[1]?.filter((each) => each !== undefined)).toHaveLength(28);
    // 1 November 2026 is a Sunday.
    expect(months[10]?.findIndex((each) => each !== undefined)).toBe(6);
    expect(blackoutsOf(toSpec(draft({ blackouts: "22:00-06:00\n12:00-13:00" })))).toEqual([
      { from: 0, until: 360 },
      { from: 1320, until: 1440 },
      { from: 720, until: 780 },
    ]);
  });
});
