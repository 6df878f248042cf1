import { describe, expect, it } from "vitest";
import type { StatsSeries } from "./api/schema";
import { stepsOf } from "./series";

const total = {
  success: 0,
  final_failed: 0,
  cancelled: 0,
  skipped: 0,
  attempts: 0,
  queued_ms_mean: 0,
  running_ms_mean: 0,
};

describe("stepsOf", () => {
  it("fills the holes and keeps what is known", () => {
    const series: StatsSeries = {
      from: "2026-01-01T00:00:00Z",
      until: "2026-01-01T03:30:00Z",
      step_s: 3600,
      total,
      points: [
        {
          at: "2026-01-01T02:00:00.000000Z",
          success: 2,
          final_failed: 1,
          cancelled: 0,
          skipped: 0,
          running_ms_mean: 5,
        },
      ],
      groups: [],
      partial: false,
    };
    const steps = stepsOf(series);
    expect(steps.map((step) => step.success)).toEqual([0, 0, 2, 0]);
    expect(steps[2]).toMatchObject({ ms: 3_600_000, final_failed: 1, running_ms_mean: 5 });
    expect(steps[0]?.running_ms_mean).toBeUndefined();
  });
});
