import { expect, test } from "vitest";
import zh from "@/app/words.zh.json";
import { pastedId } from "./ids";
import { hasInitial, initials, isChinese } from "./initials";
import { find } from "./match";

const labels = (query: string, ...items: { label: string; alias?: string }[]) =>
  find([items], query, 10).map((item) => item.label);

test("every word of the query has to be found", () => {
  const items = [
    { label: "etl-orders", alias: "acme/data job_1" },
    { label: "etl-stock", alias: "acme/shop" },
  ];
  expect(labels("etl data", ...items)).toEqual(["etl-orders"]);
  expect(labels("etl nothing", ...items)).toEqual([]);
  expect(labels("", ...items)).toEqual(["etl-orders", "etl-stock"]);
});

test("the beginning of a label is better than the beginning of a word, and that than its inside", () => {
  expect(labels("job", { label: "xjobx" }, { label: "new-job" }, { label: "jobs" })).toEqual([
    "jobs",
    "new-job",
    "xjobx",
  ]);
});

test("the list with the best match comes first", () => {
  const found = find([[{ label: "Cancel run" }], [{ label: "Runs" }]], "run", 10);
  expect(found.map((item) => item.label)).toEqual(["Runs", "Cancel run"]);
});

test("pinyin initials find Chinese labels", () => {
  const items = [
    { label: "概览", alias: "overview" },
    { label: "运行", alias: "runs" },
    { label: "主题：深色" },
  ];
  expect(labels("gl", ...items)).toEqual(["概览"]);
  expect(labels("yx", ...items)).toEqual(["运行"]);
  expect(labels("ss", ...items)).toEqual(["主题：深色"]);
  expect(labels("over", ...items)).toEqual(["概览"]);
  expect(initials("API 文档")).toBe("API wd");
});

test("every Chinese character of the palette's own labels has an initial", () => {
  const text = JSON.stringify([zh.nav, zh.person, zh.palette, zh.keys.title]);
  expect([...text].filter((character) => isChinese(character) && !hasInitial(character))).toEqual([]);
});

test("an id is found in whatever is pasted", () => {
  const id = "run_01kb6z0000000000000000abcd";
  expect(pastedId(`mainspring logs -f ${id}\n`)).toEqual({ kind: "run", id });
  expect(pastedId(`SHA256:${"Ab".repeat(32)}`)).toEqual({
    kind: "artifact",
    digest: `sha256:${"ab".repeat(32)}`,
  });
  expect(pastedId("run_short")).toBeUndefined();
});
