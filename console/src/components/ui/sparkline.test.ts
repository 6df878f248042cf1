import { expect, test } from "vitest";
import { runsOf } from "./Sparkline";

test("a line is cut where nothing was heard", () => {
  expect(runsOf([1, 2, null, null, 3])).toEqual([
    [
      [0, 1],
      [1, 2],
    ],
    [[4, 3]],
  ]);
  expect(runsOf([null])).toEqual([]);
});
