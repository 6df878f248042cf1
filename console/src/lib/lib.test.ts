import { describe, expect, it } from "vitest";
import { namespaceTree } from "@/app/namespaces";
import { stringifySearch } from "@/app/search";
import { fieldsOf, fromTexts, toTexts } from "@/components/ui/params";
import { urlOf } from "./api/client";
import { may } from "./api/permissions";
import type { Identity } from "./api/schema";
import { cli } from "./commands";
import { bytes, toBytes, toCores } from "./size";
import { nodeFace } from "./state/node";
import { actionsOf, isEnded } from "./state/run";
import { absolute, countdown, duration, relative } from "./time/format";

describe("time", () => {
  it("writes durations with units", () => {
    const texts = [0, 0.4, 850, 12_400, 59_990, 200_000, 7_500_000, 270_000_000].map(duration);
    expect(texts).toEqual(["0 ms", "< 1 ms", "850 ms", "12.4 s", "59.9 s", "3 m 20 s", "2 h 5 m", "3 d 3 h"]);
    expect(duration(undefined)).toBe("–");
    expect(countdown(40_400)).toBe("40 s");
  });

  it("writes moments in a zone, and distances in a language", () => {
    const at = Date.parse("2026-11-18T18:00:01Z");
    expect(absolute(at, "Asia/Shanghai")).toBe("2026-11-19 02:00:01");
    expect(relative(at - 120_000, at, "en")).toBe("2 min. ago");
    expect(relative(at - 120_000, at, "zh")).toBe("2 分钟前");
  });
});

describe("permissions", () => {
  const person = (...grants: Identity["grants"]): Identity => ({
    subject: "ann",
    token: "t",
    grants,
    admins: { items: [], partial: false },
    server: { software: "0", now: "2026-11-18T18:00:01Z" },
  });
  it("hold in the namespace and below, not beside", () => {
    const ann = person({ role: "operator", namespace: "acme/data" });
    expect(may(ann, "run.cancel", "acme/data/etl")).toBe(true);
    expect(may(ann, "run.cancel", "acme/database")).toBe(false);
    expect(may(ann, "job.put", "acme/data")).toBe(false);
    expect(may(ann, "run.cancel")).toBe(true);
    expect(may(ann, "node.list")).toBe(false);
  });
  it("everywhere is everywhere", () => {
    expect(may(person({ role: "viewer" }), "node.list")).toBe(true);
    expect(may(person({ role: "viewer" }), "node.drain")).toBe(false);
    expect(may(undefined, "me")).toBe(false);
  });
});

describe("states", () => {
  it("have their actions", () => {
    expect(actionsOf({ state: "running" })).toEqual(["cancel", "kill"]);
    expect(actionsOf({ state: "running", cancel_requested_by: "ann" })).toEqual(["kill"]);
    expect(actionsOf({ state: "failed" })).toEqual(["retry", "cancel", "prioritise"]);
    expect(actionsOf({ state: "success" })).toEqual(["rerun"]);
    expect(isEnded("failed")).toBe(false);
  });
  it("of nodes take the connection into account", () => {
    expect(nodeFace({ state: "up", connected: false })).toBe("silent");
    expect(nodeFace({ state: "up" })).toBe("unknown");
    expect(nodeFace({ state: "something new" as "up", connected: true })).toBe("unknown");
  });
});

describe("texts that leave the page", () => {
  it("are quoted for a shell", () => {
    expect(cli("runs", "-Q", "label:a=it's x")).toBe("mainspring runs -Q 'label:a=it'\\''s x'");
  });
  it("keep a path prefix and escape parts", () => {
    expect(urlOf("namespace_get", { namespace: "acme/data" }, {}, "https://h/ops/")).toBe(
      "https://h/ops/v1/namespaces/acme%2Fdata",
    );
    expect(stringifySearch({ q: "state:failed a b", ns: "acme/data", re: true, x: undefined })).toBe(
      "?q=state:failed%20a%20b&ns=acme/data&re=1",
    );
  });
});

describe("sizes", () => {
  it("are read and written", () => {
    expect([toBytes("24684100Ki"), toBytes("8Gi"), toBytes(5), toBytes("x")]).toEqual([
      25276518400,
      8589934592,
      5,
      undefined,
    ]);
    expect([toCores("500m"), toCores("2")]).toEqual([0.5, 2]);
    expect([bytes(0), bytes(1536), bytes(25276518400)]).toEqual(["0 B", "1.5 KiB", "24 GiB"]);
  });
});

describe("parameters", () => {
  const fields = fieldsOf({
    day: "string",
    rows: { type: "integer", default: 5 },
    tags: { type: "list", required: false },
  });
  it("are edited as text and read by type", () => {
    expect(toTexts(fields, { day: "x" })).toEqual({ day: "x", rows: "5", tags: "" });
    expect(fromTexts(fields, { day: "x", rows: "7", tags: '["a"]' })).toEqual({
      params: { day: "x", rows: 7, tags: ["a"] },
      problems: {},
    });
    expect(fromTexts(fields, { day: "", rows: "7.5", tags: "[" }).problems).toEqual({
      day: "required",
      rows: "integer",
      tags: "json",
    });
  });
});

it("namespaces are a tree with its parents", () => {
  expect(namespaceTree(["acme/data", "b"]).map((each) => `${each.depth}${each.name}`)).toEqual([
    "0acme",
    "1data",
    "0b",
  ]);
});
