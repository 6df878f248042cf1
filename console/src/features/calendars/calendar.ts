// Calendars as the server reads them: which days are off, which times of a day, and what a click on a day changes. The server
// has the last word about what is written; this draws it while it is typed.
import type { CalendarSpec, Weekday } from "@/lib/api/schema";

export const WEEKDAYS: Weekday[] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const OF_DATE: Weekday[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const DAY_MS = 86_400_000;
const MINUTES = 1440;
/** Days of one span that are drawn; the server allows 10,000 in all. */
const SPAN_DAYS_MAX = 10_000;

/** Why nothing fires on a day, or that it is worked although the day of the week says otherwise. */
export type DayKind = "work" | "weekend" | "off" | "yearly" | "extra";

export type Lists = "off" | "working" | "blackouts";

/** The text of a calendar as it is edited: a line for each entry. */
export interface Draft {
  description: string;
  weekend: Weekday[];
  off: string;
  working: string;
  blackouts: string;
}

const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

export const toDraft = (spec: CalendarSpec): Draft => ({
  description: spec.description ?? "",
  weekend: spec.weekend ?? [],
  off: (spec.off ?? []).join("\n"),
  working: (spec.working ?? []).join("\n"),
  blackouts: (spec.blackouts ?? []).join("\n"),
});

export const toSpec = (draft: Draft): Required<CalendarSpec> => ({
  description: draft.description,
  weekend: WEEKDAYS.filter((day) => draft.weekend.includes(day)),
  off: lines(draft.off),
  working: lines(draft.working),
  blackouts: lines(draft.blackouts),
});

/** Milliseconds of a day as UTC; nothing when there is no such day. */
function dayOf(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) || nameOf(at) !== text ? undefined : at;
}

export const nameOf = (day: number): string => new Date(day).toISOString().slice(0, 10);

type Days = { from: number; to: number } | { yearly: string };

export function parseDays(text: string): Days | undefined {
  if (/^\d{2}-\d{2}$/.test(text)) return dayOf(`2000-${text}`) === undefined ? undefined : { yearly: text };
  const [first = "", last = first, ...rest] = text.split("..");
  const [from, to] = [dayOf(first), dayOf(last)];
  if (from === undefined || to === undefined || rest.length > 0 || to < from) return undefined;
  return { from, to };
}

/** Minutes of the day; a window may go over midnight. */
export function parseWindow(text: string): { from: number; until: number } | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)\s*-\s*([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (!match) return undefined;
  const [, a, b, c, d] = match.map(Number);
  return { from: (a ?? 0) * 60 + (b ?? 0), until: (c ?? 0) * 60 + (d ?? 0) };
}

export interface Wrong {
  list: Lists;
  /** Which entry, from 0. */
  index: number;
  text: string;
}

/** Entries that cannot be read. */
export function wrongsOf(spec: Required<CalendarSpec>): Wrong[] {
  const found: Wrong[] = [];
  const look = (list: Lists, isRight: (text: string) => boolean) => {
    for (const [index, text] of spec[list].entries()) {
      if (!isRight(text)) found.push({ list, index, text });
    }
  };
  look("off", (text) => parseDays(text) !== undefined);
  look("working", (text) => {
    const days = parseDays(text);
    return days !== undefined && "from" in days;
  });
  look("blackouts", (text) => parseWindow(text) !== undefined);
  return found;
}

/** What each day is; days that are not in the map are as their day of the week. */
export function daysOf(spec: Required<CalendarSpec>): (day: number) => DayKind {
  const named = new Map<number, "off" | "extra">();
  const yearly = new Set<string>();
  for (const [list, kind] of [
    ["working", "extra"],
    ["off", "off"],
  ] as const) {
    for (const text of spec[list]) {
      const days = parseDays(text);
      if (!days) continue;
      if ("yearly" in days) {
        if (kind === "off") yearly.add(days.yearly);
        continue;
      }
      for (let day = days.from; day <= days.to && named.size < SPAN_DAYS_MAX; day += DAY_MS)
        named.set(day, kind);
    }
  }
  return (day) => {
    const found = named.get(day);
    const isWeekend = spec.weekend.includes(OF_DATE[new Date(day).getUTCDay()] as Weekday);
    const isYearly = yearly.has(nameOf(day).slice(5));
    if (found === "off") return "off";
    if (found === "extra") return isWeekend || isYearly ? "extra" : "work";
    if (isYearly) return "yearly";
    return isWeekend ? "weekend" : "work";
  };
}

/** What a click on a day changes: a day off becomes a worked one, and the other way round. */
export function toggled(draft: Draft, day: number): Draft {
  const spec = toSpec(draft);
  const kind = daysOf(spec)(day);
  const name = nameOf(day);
  const without = (list: string[]) => list.flatMap((text) => cut(text, day)).join("\n");
  switch (kind) {
    case "work":
      return { ...draft, off: [...spec.off, name].join("\n"), working: without(spec.working) };
    case "off": {
      const next = { ...draft, off: without(spec.off) };
      // Below the named day there may be a day of the weekend, which is off too.
      return daysOf(toSpec(next))(day) === "work"
        ? next
        : { ...next, working: [...spec.working, name].join("\n") };
    }
    case "extra":
      return { ...draft, working: without(spec.working) };
    case "weekend":
    case "yearly":
      return { ...draft, working: [...spec.working, name].join("\n") };
  }
}

/** An entry without a day: a span falls into what is before and after it. */
function cut(text: string, day: number): string[] {
  const days = parseDays(text);
  if (!days || "yearly" in days || day < days.from || day > days.to) return [text];
  const span = (from: number, to: number) =>
    from > to ? [] : [from === to ? nameOf(from) : `${nameOf(from)}..${nameOf(to)}`];
  return [...span(days.from, day - DAY_MS), ...span(day + DAY_MS, days.to)];
}

/** The months of a year as weeks that begin on Monday; nothing stands where a month has no day. */
export function monthsOf(year: number): (number | undefined)[][] {
  return Array.from({ length: 12 }, (_, month) => {
    const first = Date.UTC(year, month, 1);
    const count = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const before = (new Date(first).getUTCDay() + 6) % 7;
    return [
      ...Array.from({ length: before }, () => undefined),
      ...Array.from({ length: count }, (_, day) => first + day * DAY_MS),
    ];
  });
}

/** Blackouts as stretches of a day that do not go over midnight, in minutes. */
export function blackoutsOf(spec: Required<CalendarSpec>): { from: number; until: number }[] {
  return spec.blackouts.flatMap((text) => {
    const window = parseWindow(text);
    if (!window || window.from === window.until) return [];
    if (window.from < window.until) return [window];
    return [
      { from: 0, until: window.until },
      { from: window.from, until: MINUTES },
    ].filter((part) => part.from < part.until);
  });
}
