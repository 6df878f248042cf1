import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { WatchEvent } from "./message";
import { StaleKeys } from "./stale";

const job = (name: string): WatchEvent => ({
  kind: "job",
  mark: "0.1.1",
  id: "job_1",
  namespace: "acme",
  name,
  at: "2026-11-18T18:00:01Z",
});

describe("stale keys", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("hands a key on at once, and what comes after it once in a while", () => {
    const seen: string[] = [];
    const keys = new StaleKeys((key) => seen.push(key.join("/")), 1000);
    for (let count = 0; count < 50; count += 1) keys.hear(job("etl"));
    expect(seen).toEqual(["jobs", "triggers", "job/acme/etl"]);
    keys.hear(job("other"));
    expect(seen.slice(3)).toEqual(["job/acme/other"]);
    vi.advanceTimersByTime(1000);
    expect(seen.slice(4).sort()).toEqual(["job/acme/etl", "jobs", "triggers"]);
    vi.advanceTimersByTime(5000);
    expect(seen.length).toBe(7);
  });

  it("a reset makes everything stale, and a closed one nothing", () => {
    const seen: string[][] = [];
    const keys = new StaleKeys((key) => seen.push(key), 1000);
    keys.hear({ kind: "reset", mark: "" });
    expect(seen).toEqual([[]]);
    keys.hear({ kind: "reset", mark: "" });
    keys.close();
    vi.advanceTimersByTime(5000);
    expect(seen.length).toBe(1);
  });
});
