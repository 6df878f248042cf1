// The query language as the query bar needs it: words, completion, and changes of single words.
import { STATE_NAMES } from "@/lib/state/run";

export interface Suggestion {
  /** What the word becomes. */
  word: string;
  /** The state it is about, shown with its badge. */
  state?: (typeof STATE_NAMES)[number];
}

export const KEYS = [
  "state",
  "job",
  "namespace",
  "label",
  "cause",
  "reason",
  "by",
  "trigger",
  "pool",
  "node",
  "text",
  "id",
  "created>",
  "created<",
  "started>",
  "finished>",
  "took>",
  "attempt>",
] as const;

export const REASONS = [
  "begin_time",
  "backoff",
  "concurrency",
  "rate_limit",
  "resources",
  "no_node",
  "suspect",
  "priority",
  "paused",
  "cell_paused",
  "quarantined",
  "overflow",
] as const;

export const CAUSES = [
  "exit",
  "signal",
  "oom",
  "timeout",
  "lost",
  "vanished",
  "refused",
  "start_failed",
  "error",
  "drained",
  "cancelled",
  "overlap",
  "quarantined",
] as const;

const MOMENTS = ["-1h", "-24h", "-7d"];
const COMPARED: Record<string, readonly string[]> = {
  created: MOMENTS,
  started: MOMENTS,
  finished: MOMENTS,
  took: ["1m", "10m", "1h"],
  attempt: ["1", "2"],
};

export const wordsOf = (q: string) => q.split(/\s+/).filter(Boolean);

/** The word at the caret, and where it stands. */
export function wordAt(q: string, caret: number): { word: string; from: number; until: number } {
  const from = q.lastIndexOf(" ", caret - 1) + 1;
  const end = q.indexOf(" ", caret);
  const until = end < 0 ? q.length : end;
  return { word: q.slice(from, until), from, until };
}

/** What the word at the caret can become. */
export function suggest(word: string): Suggestion[] {
  const minus = word.startsWith("-") ? "-" : "";
  const bare = word.slice(minus.length);
  const colon = bare.indexOf(":");
  const compared = /^(created|started|finished|took|attempt)([<>]=?)(.*)$/.exec(bare);
  if (compared) {
    const [, key = "", sign = "", begun = ""] = compared;
    return (COMPARED[key] ?? [])
      .filter((value) => value.startsWith(begun))
      .map((value) => ({ word: `${minus}${key}${sign}${value}` }));
  }
  if (colon < 0) {
    const isCompared = (key: string) => /[<>]$/.test(key);
    return KEYS.filter((key) => key.startsWith(bare) && !(minus && isCompared(key))).map((key) => ({
      word: `${minus}${key}${isCompared(key) ? "" : ":"}`,
    }));
  }
  const key = bare.slice(0, colon);
  const values = bare.slice(colon + 1).split(",");
  const last = values.pop() ?? "";
  const head = `${minus}${key}:${values.length ? `${values.join(",")},` : ""}`;
  const open = (all: readonly string[]) =>
    all.filter((value) => value.startsWith(last) && !values.includes(value));
  if (key === "state") {
    const groups = open(["active", "ended"]).map((value) => ({ word: head + value }));
    return [
      ...groups,
      ...open(STATE_NAMES).map((value) => ({
        word: head + value,
        state: STATE_NAMES.find((s) => s === value),
      })),
    ] as Suggestion[];
  }
  if (key === "reason") return open(REASONS).map((value) => ({ word: head + value }));
  if (key === "cause") return open(CAUSES).map((value) => ({ word: head + value }));
  return [];
}

/** The query with the word at the caret replaced. */
export function complete(q: string, caret: number, word: string): { q: string; caret: number } {
  const { from, until } = wordAt(q, caret);
  const isWhole = !word.endsWith(":") && !/[<>]$/.test(word);
  const after = q.slice(until).replace(/^\s+/, "");
  const text = `${q.slice(0, from)}${word}${isWhole ? " " : ""}`;
  return { q: text + after, caret: text.length };
}

/** Views that everybody has. */
export const VIEWS = [
  { name: "all", q: "" },
  { name: "active", q: "state:active" },
  { name: "failed_today", q: "state:final_failed created>-24h" },
  { name: "retrying", q: "state:failed" },
  { name: "waiting", q: "state:waiting" },
] as const;
