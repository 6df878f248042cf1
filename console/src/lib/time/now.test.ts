import { afterEach, expect, test, vi } from "vitest";
import { serverNow, setServerClock } from "./now";

afterEach(() => vi.useRealTimers());

test("the page goes by the server's clock, whatever the browser's says", () => {
  vi.useFakeTimers({ now: 1_000_000 });
  setServerClock(1_000_000 + 3_600_000, 999_800);
  expect(serverNow()).toBe(1_000_000 + 3_600_000 + 100);
  vi.advanceTimersByTime(5_000);
  expect(serverNow()).toBe(1_005_000 + 3_600_000 + 100);
  // What a slow answer explains is no difference.
  setServerClock(1_002_000, 1_001_000);
  expect(serverNow()).toBe(1_005_000);
});
