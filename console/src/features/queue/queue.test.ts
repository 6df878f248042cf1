import { expect, it } from "vitest";
import type { QueueItem } from "@/lib/api/schema";
import { groupsOf, inOrder, queryOf, queryOfGroup } from "./queue";

const item = (
  job_name: string,
  kind: string,
  count: number,
  oldest: string,
  pool = "default",
): QueueItem => ({
  job: `job_${job_name}`,
  job_name,
  namespace: "acme",
  pool,
  reason: { kind, message: "", remedy: "" },
  count,
  oldest,
  first: "run_1",
});

const ITEMS = [
  item("etl", "resources", 5, "2026-01-01T00:02:00Z"),
  item("train", "no_node", 20, "2026-01-01T00:03:00Z", "gpu"),
  item("report", "resources", 30, "2026-01-01T00:01:00Z"),
];

it("groups by reason, pool and job, with the oldest of each", () => {
  const reasons = groupsOf(ITEMS, "reason");
  expect(reasons.map(({ key, count }) => [key, count])).toEqual([
    ["resources", 35],
    ["no_node", 20],
  ]);
  expect(reasons[0]?.oldest).toBe(Date.parse("2026-01-01T00:01:00Z"));
  expect(reasons[0]?.items.map((each) => each.job_name)).toEqual(["report", "etl"]);
  expect(groupsOf(ITEMS, "pool").map(({ key }) => key)).toEqual(["default", "gpu"]);
  expect(groupsOf(ITEMS, "job").map(({ key }) => key)).toEqual(["acme/report", "acme/train", "acme/etl"]);
});

it("keeps the places of what is seen already", () => {
  const groups = groupsOf(ITEMS, "job");
  expect(inOrder(groups, ["acme/etl", "gone", "acme/train"]).map(({ key }) => key)).toEqual([
    "acme/etl",
    "acme/train",
    "acme/report",
  ]);
});

it("leads to the runs", () => {
  expect(queryOf(ITEMS[1] as QueueItem)).toBe("job:job_train reason:no_node pool:gpu");
  const [group] = groupsOf(ITEMS, "job");
  expect(group && queryOfGroup(group, "job")).toBe("job:job_report state:ready,waiting,failed");
});
