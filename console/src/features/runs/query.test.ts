import { expect, it } from "vitest";
import { complete, suggest, wordAt } from "./query";

const words = (word: string) => suggest(word).map((each) => each.word);

it("completes keys, then values", () => {
  expect(words("sta")).toEqual(["state:", "started>"]);
  expect(words("state:fin")).toEqual(["state:final_failed"]);
  expect(words("-cause:ti")).toEqual(["-cause:timeout"]);
  expect(words("created>")).toEqual(["created>-1h", "created>-24h", "created>-7d"]);
  expect(words("job:etl")).toEqual([]);
});

it("goes on with alternatives, without those that are there", () => {
  expect(words("state:failed,f")).toEqual(["state:failed,final_failed"]);
});

it("replaces the word at the caret alone", () => {
  expect(wordAt("job:a sta created>-1h", 9)).toEqual({ word: "sta", from: 6, until: 9 });
  expect(complete("job:a sta created>-1h", 9, "state:failed")).toEqual({
    q: "job:a state:failed created>-1h",
    caret: 19,
  });
  expect(complete("sta", 3, "state:")).toEqual({ q: "state:", caret: 6 });
});
