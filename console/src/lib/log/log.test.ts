import { describe, expect, it } from "vitest";
import type { LogLine, LogPage } from "@/lib/api/schema";
import { lastState, plain, spans } from "./ansi";
import { find, patternOf } from "./find";
import { LineJoiner, type LogRow } from "./lines";
import { pieces } from "./links";
import { type LogSource, LogStore } from "./store";
import { positionMax, ROW_PX, SPACER_MAX_PX, slice, windowOf } from "./window";

const ESC = "\u001b";
const line = (offset: number, text: string, stream: LogLine["stream"] = "stdout"): LogLine => ({
  offset,
  at: "2026-11-18T00:00:00Z",
  stream,
  text,
});

describe("ANSI", () => {
  it("turns colours into class names and drops other escapes", () => {
    expect(spans(`${ESC}[32mok${ESC}[0m ${ESC}[1;31mbad${ESC}[2J!`)).toEqual([
      { text: "ok", look: "fg-green" },
      { text: " ", look: "" },
      { text: "bad", look: "fg-red bold" },
      { text: "!", look: "fg-red bold" },
    ]);
  });

  it("maps 256 and 24-bit colours to the theme's", () => {
    expect(spans(`${ESC}[38;2;250;20;10mx`)[0]?.look).toBe("fg-red");
    expect(spans(`${ESC}[38;5;46mx`)[0]?.look).toBe("fg-green");
    expect(spans(`${ESC}[38;5;250mx`)[0]?.look).toBe("");
  });

  it("shows what is hidden: controls and marks of direction", () => {
    expect(plain("a\u202eb\u0007c")).toBe("a<U+202E>b<U+0007>c");
  });

  it("drops an address of a terminal link, with its text kept", () => {
    expect(plain(`${ESC}]8;;https://evil.example${ESC}\\click${ESC}]8;;${ESC}\\`)).toBe("click");
  });

  it("keeps the last state of a line that was written over", () => {
    expect(lastState("10 %\r50 %\r100 %")).toBe("100 %");
    expect(lastState("windows line\r")).toBe("windows line");
  });
});

describe("links", () => {
  it("are http and https alone", () => {
    expect(pieces("see https://a.example/x). javascript://x")).toEqual([
      { text: "see " },
      { text: "https://a.example/x", href: "https://a.example/x" },
      { text: "). javascript://x" },
    ]);
  });
});

describe("LineJoiner", () => {
  it("joins pieces of a line by stream, and keys rows by place", () => {
    const joiner = new LineJoiner();
    const rows: LogRow[] = [];
    for (const each of [
      line(0, "a"),
      line(8, "err\n", "stderr"),
      line(20, "b\n"),
      line(30, "x\n"),
      line(30, "y\n"),
    ]) {
      const row = joiner.add(each);
      if (row) rows.push(row);
    }
    expect(rows.map((row) => [row.key, row.text])).toEqual([
      ["0.0", "ab"],
      ["8.0", "err"],
      ["30.0", "x"],
      ["30.1", "y"],
    ]);
  });
});

it("a cut is a row of its own, only when the system says so", () => {
  const joiner = new LineJoiner();
  const text = "[8345658 bytes of output were dropped here]\n";
  expect(joiner.add({ ...line(0, text, "system"), gap_bytes: 8345658 })?.gap).toBe(8345658);
  expect(joiner.add(line(50, text, "system"))?.gap).toBeUndefined();
});

describe("window", () => {
  it("is exact for short logs", () => {
    const window = windowOf(100, 400);
    expect(window).toEqual({ spacer: 100 * ROW_PX, scale: 1 });
    expect(slice(100, 0, 400, window).from).toBe(0);
  });

  it("caps the height for 1,000,000 rows and still reaches both ends", () => {
    const window = windowOf(1_000_000, 400);
    expect(window.spacer).toBe(SPACER_MAX_PX);
    const most = positionMax(1_000_000, 400);
    expect(most / window.scale).toBeCloseTo(SPACER_MAX_PX - 400, 0);
    const end = slice(1_000_000, most, 400, window);
    expect(end.until).toBe(1_000_000);
    // The last row stands at the end of the scrolled content.
    expect(end.offset + (end.until - end.from) * ROW_PX).toBeCloseTo(SPACER_MAX_PX, 0);
  });
});

describe("find", () => {
  const rows = ["a Error", "fine", `${ESC}[31merror${ESC}[0m 2`].map((text, index) => ({
    key: String(index),
    at: 0,
    stream: "stdout" as const,
    text,
  }));
  const search = (text: string, options = {}) => find(rows, patternOf({ text, ...options }) ?? /(?!)/);

  it("looks at the text without escapes", () => {
    expect(search("error")).toEqual([0, 2]);
    expect(search("error", { matchCase: true })).toEqual([2]);
    expect(search("^error \\d", { regex: true })).toEqual([2]);
    expect(search("e.r")).toEqual([]);
  });

  it("says so when a pattern is broken", () => {
    expect(patternOf({ text: "(", regex: true })).toBeUndefined();
  });
});

class FakeEvents extends EventTarget {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;
  close() {
    this.closed = true;
  }
}

describe("LogStore", () => {
  const page = (
    from: number,
    lines: LogLine[],
    next: number,
    length: number,
    ended: boolean,
  ): [number, LogPage] => [from, { attempt: 1, lines, next_offset: next, length, ended }];

  async function open(pages: Map<number, LogPage>) {
    const followed: { id: string; events: FakeEvents }[] = [];
    const source: LogSource = {
      page: async (offset) => {
        const found = pages.get(offset);
        if (!found) throw new Error(`no page at ${offset}`);
        return found;
      },
      index: async () => {
        throw new Error("a short log needs no index");
      },
      follow: (id) => {
        const events = new FakeEvents();
        followed.push({ id, events });
        return events as unknown as EventSource;
      },
    };
    const store = new LogStore(1, source, (work) => work());
    store.start();
    await new Promise((done) => setTimeout(done, 0));
    return { store, followed };
  }

  it("reads all pages of a log that is over", async () => {
    const pages = new Map([
      page(0, [line(0, "a\n")], 10, 20, false),
      page(10, [line(10, "b\n")], 20, 20, true),
    ]);
    const { store, followed } = await open(pages);
    expect(store.rows.map((row) => row.text)).toEqual(["a", "b"]);
    expect([store.phase, followed.length]).toEqual(["ended", 0]);
  });

  it("follows from where the pages ended, and from the last event after a loss", async () => {
    const { store, followed } = await open(new Map([page(0, [line(0, "a\n")], 10, 10, false)]));
    expect(followed[0]?.id).toBe("1:10");
    const events = followed[0]?.events;
    events?.dispatchEvent(
      new MessageEvent("line", { data: JSON.stringify(line(10, "b\n")), lastEventId: "1:20" }),
    );
    events?.onerror?.();
    expect(store.phase).toBe("reconnecting");
    store.stop();
    store.start();
    expect(followed[1]?.id).toBe("1:20");
    followed[1]?.events.dispatchEvent(new MessageEvent("end", { data: "{}" }));
    expect([store.phase, store.rows.length]).toEqual(["ended", 2]);
  });
});
