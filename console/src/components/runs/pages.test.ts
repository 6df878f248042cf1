import { expect, it } from "vitest";
import type { Run } from "@/lib/api/schema";
import { applyEvent, mergePage, type RunPages, rowsOf, showAdded } from "./pages";

const run = (id: string, version = 1, state: Run["state"] = "waiting") =>
  ({ id, version, state, attempt: 0 }) as Run;
const data = (...pages: Run[][]): RunPages => ({
  pages: pages.map((items) => ({ items })),
  pageParams: pages.map((_, index) => (index ? String(index) : undefined)),
});
const event = (id: string, version: number) =>
  ({
    kind: "run",
    mark: "",
    id,
    namespace: "n",
    job: "j",
    state: "running",
    version,
    attempt: 1,
    at: "",
  }) as const;

it("an event changes its row in place and names its page", () => {
  const { data: after, page } = applyEvent(data([run("c")], [run("b"), run("a")]), event("b", 2));
  expect(page).toBe(1);
  expect(rowsOf(after).map((each) => [each.id, each.state])).toEqual([
    ["c", "waiting"],
    ["b", "running"],
    ["a", "waiting"],
  ]);
});

it("an old event changes nothing, an unknown run is on no page", () => {
  const before = data([run("c", 5, "success")]);
  expect(rowsOf(applyEvent(before, event("c", 4)).data)[0]?.state).toBe("success");
  expect(applyEvent(before, event("x", 4)).page).toBe(-1);
});

it("a page that is read again keeps its rows, and holds new runs back", () => {
  const { data: after, added } = mergePage(data([run("b"), run("a")]), 0, {
    items: [run("d"), run("c"), run("b", 2, "success")],
  });
  expect(rowsOf(after).map((each) => [each.id, each.state])).toEqual([
    ["b", "success"],
    ["a", "waiting"],
  ]);
  expect(added.map((each) => each.id)).toEqual(["d", "c"]);
  expect(rowsOf(showAdded(after, added)).map((each) => each.id)).toEqual(["d", "c", "b", "a"]);
});
