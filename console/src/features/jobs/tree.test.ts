import { describe, expect, it } from "vitest";
import type { Job, RunState } from "@/lib/api/schema";
import { rowId, type TreeRow, treeRows } from "./tree";

const job = (path: string, state?: RunState): Job => {
  const at = path.lastIndexOf("/");
  return {
    id: path,
    namespace: path.slice(0, at),
    name: path.slice(at + 1),
    version: 1,
    revision: 1,
    created_at: "",
    updated_at: "",
    health: { ends: state ? [{ run: "r", state }] : [] },
  };
};

const shown = (rows: TreeRow[]) => rows.map((row) => `${" ".repeat(row.depth)}${rowId(row)}`);

describe("treeRows", () => {
  const jobs = [
    job("acme-x/z"),
    job("acme/data/etl/in"),
    job("acme/web"),
    job("acme/data/etl/out"),
    job("b/c"),
  ];

  it("puts jobs below their namespaces, and namespaces without jobs of their own into one line", () => {
    expect(shown(treeRows(jobs, new Set()))).toEqual([
      "ns:acme",
      " acme/web",
      " ns:acme/data/etl",
      "  acme/data/etl/in",
      "  acme/data/etl/out",
      "ns:acme-x",
      " acme-x/z",
      "ns:b",
      " b/c",
    ]);
  });

  it("leaves out what is below a folded branch", () => {
    expect(shown(treeRows(jobs, new Set(["acme"])))).toEqual([
      "ns:acme",
      "ns:acme-x",
      " acme-x/z",
      "ns:b",
      " b/c",
    ]);
    expect(shown(treeRows(jobs, new Set(["acme/data/etl"]))).slice(0, 3)).toEqual([
      "ns:acme",
      " acme/web",
      " ns:acme/data/etl",
    ]);
  });

  it("tells how many jobs a branch has and the worst state, folded or not", () => {
    const failing = [job("a/one", "success"), job("a/b/two", "final_failed"), job("a/b/three")];
    for (const folded of [new Set<string>(), new Set(["a"])]) {
      const [top] = treeRows(failing, folded);
      expect(top).toMatchObject({ path: "a", jobs: 3, worst: "final_failed" });
    }
    expect(treeRows([job("a/x")], new Set())[0]).toMatchObject({ worst: undefined });
  });

  it("shows nothing for nothing", () => {
    expect(treeRows([], new Set())).toEqual([]);
  });
});
