import { describe, expect, it } from "vitest";
import type { LogLine, LogMark } from "@/lib/api/schema";
import type { LogSource } from "./blocks";
import { placeOf } from "./lines";
import { LogStore } from "./store";

/** Stored bytes of a piece, pieces of a page, and pieces from one mark to the next. */
const PIECE = 1000;
const PAGE = 400;
const MARK = 262;
const AT = "2026-11-18T00:00:00Z";

/** Each piece ends a line and begins the next, as reads of a pipe do: `<n>` is line n of the output. */
function pieceOf(n: number): LogLine[] {
  const line = (text: string): LogLine => ({ offset: n * PIECE, at: AT, stream: "stdout", text });
  return n === 0 ? [line("1 be")] : [line("gun\n"), line(`${n + 1} be`)];
}

class FakeEvents extends EventTarget {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  isClosed = false;
  close() {
    this.isClosed = true;
  }
}

class FakeLog implements LogSource {
  followed: { id: string; events: FakeEvents }[] = [];
  pages = 0;
  constructor(
    readonly pieces: number,
    readonly ended: boolean,
  ) {}

  async page(offset: number) {
    this.pages += 1;
    const from = offset / PIECE;
    const until = Math.min(this.pieces, from + PAGE);
    const lines = Array.from({ length: until - from }, (_, index) => pieceOf(from + index)).flat();
    const length = this.pieces * PIECE;
    return { attempt: 1, lines, next_offset: until * PIECE, length, ended: this.ended };
  }

  async index() {
    const marks: LogMark[] = [];
    for (let n = 0; n < this.pieces; n += MARK) {
      // The line that begins in piece n is line n + 1, and the one before goes on in it.
      marks.push({ offset: n * PIECE, line: n + 1, at: AT, open: n === 0 ? [] : ["stdout"] });
    }
    const length = this.pieces * PIECE;
    return { attempt: 1, length, lines: this.pieces, ended: this.ended, partial: false, marks, gaps: [] };
  }

  follow(id: string) {
    const events = new FakeEvents();
    this.followed.push({ id, events });
    return events as unknown as EventSource;
  }
}

async function until(check: () => boolean) {
  for (let turn = 0; turn < 10_000 && !check(); turn += 1) await new Promise((done) => setTimeout(done, 0));
  expect(check()).toBe(true);
}

async function open(log: FakeLog) {
  const store = new LogStore(1, log, (work) => work());
  store.start();
  await until(() => store.phase === "ended" || log.followed.length > 0);
  return store;
}

/** Rows are numbered as the lines of the output are, without a hole; the last may not have ended. */
function expectWhole(store: LogStore, isAtEnd = true) {
  const rows = store.rows.map((row, index) => [row.text, store.before + index + 1] as const);
  const wrong = rows.filter(([text, number], index) => {
    const isLast = isAtEnd && index === rows.length - 1;
    return text !== (isLast ? `${number} be` : `${number} begun`);
  });
  expect(wrong).toEqual([]);
}

describe("a long log", () => {
  it("opens at its end, and what is before is put before without a hole", async () => {
    const store = await open(new FakeLog(20_000, true));
    expect([store.phase, store.isLong, store.isWhole]).toEqual(["ended", true, false]);
    expect(store.rows.at(-1)?.text).toBe("20000 be");
    expect(store.rows.length).toBeGreaterThan(2000);
    expect(store.rows.length).toBeLessThan(3000);
    expectWhole(store);
    const was = store.before;
    await store.earlier();
    expect(was - store.before).toBeGreaterThan(400);
    expectWhole(store);
    while (store.before > 0) await store.earlier();
    expect([store.rows.length, store.isWhole]).toEqual([20_000, true]);
    expectWhole(store);
  });

  it("is followed from its end", async () => {
    const log = new FakeLog(20_000, false);
    const store = await open(log);
    expect(log.followed[0]?.id).toBe("1:20000000");
    const data = JSON.stringify({ offset: 20_000_000, at: AT, stream: "stdout", text: "gun\n" });
    log.followed[0]?.events.dispatchEvent(new MessageEvent("line", { data, lastEventId: "1:20000010" }));
    expect(store.rows.at(-1)?.text).toBe("20000 begun");
  });

  it("shows a row that is not loaded, and goes on from there to the end", async () => {
    const log = new FakeLog(20_000, false);
    const store = await open(log);
    const key = `${9_000 * PIECE}.1`;
    expect(await store.show(placeOf(key))).toBe(true);
    expect(store.phase).toBe("apart");
    expect(log.followed[0]?.events.isClosed).toBe(true);
    const row = store.rows.findIndex((each) => each.key === key);
    expect([store.rows[row]?.text, store.before + row + 1]).toEqual(["9001 begun", 9001]);
    expect(store.last(1)[0]?.text).toBe("20000 be");
    expectWhole(store);
    // Nothing comes by itself; the next stretch comes when it is asked for.
    store.start();
    const was = store.rows.length;
    await store.later();
    expect(store.rows.length).toBeGreaterThan(was);
    expectWhole(store);
    await store.toEnd();
    expect([store.rows.at(-1)?.text, log.followed.length]).toEqual(["20000 be", 2]);
    expectWhole(store);
    expect(await store.show({ offset: 5, index: 0 })).toBe(false);
  });

  it("opens where it is wanted, when that is said before", async () => {
    const store = new LogStore(1, new FakeLog(20_000, true), (work) => work());
    store.wanted = { offset: 12_000 * PIECE, index: 1 };
    store.start();
    await until(() => store.phase === "apart");
    expect(store.rows.some((row) => row.text === "12001 begun")).toBe(true);
    expect(store.before).toBeGreaterThan(11_000);
    expectWhole(store);
  });

  it("lets go of its end while its beginning is read, and finds it again", async () => {
    const log = new FakeLog(8000, true);
    const store = new LogStore(1, log, (work) => work(), 4000 * 140);
    store.isHeld = true;
    store.start();
    await until(() => store.phase === "apart");
    expect([store.before, store.rows[0]?.text]).toEqual([0, "1 begun"]);
    const kept = store.rows.length;
    expect(kept).toBeLessThan(4100);
    expectWhole(store, false);
    store.isHeld = false;
    for (let turn = 0; turn < 30 && store.phase === "apart"; turn += 1) await store.later();
    expect([store.phase, store.rows.at(-1)?.text]).toEqual(["ended", "8000 be"]);
    expect(store.before).toBeGreaterThan(0);
    expect(store.rows.length).toBeLessThan(4100);
    expectWhole(store);
    // And backwards: the end goes, what is read stays.
    while (store.before > 0) await store.earlier();
    expect([store.phase, store.rows[0]?.text]).toEqual(["apart", "1 begun"]);
    expectWhole(store, false);
  });
});
