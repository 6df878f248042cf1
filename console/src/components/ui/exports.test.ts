import { expect, test } from "vitest";
import { fieldsNamed, toCsv } from "./exports";

test("a CSV has the named fields, quoted, and no formula that a tenant wrote", () => {
  const rows = [
    { id: 1, name: "=HYPERLINK(1)", note: 'a "b", c', tags: { team: "data" } },
    { id: -2, name: "plain", note: null, tags: {} },
  ];
  const text = toCsv(rows, {
    ...fieldsNamed<(typeof rows)[number]>("id", "name", "note"),
    tags: (row) => row.tags,
  });
  expect(text.split("\r\n")).toEqual([
    "id,name,note,tags",
    `1,'=HYPERLINK(1),"a ""b"", c","{""team"":""data""}"`,
    "-2,plain,,{}",
  ]);
});
