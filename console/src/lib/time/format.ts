// Times and durations as text. Units are the same in both languages except in relative times, which come from Intl.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const UNKNOWN = "–";

/** `850 ms`, `12.4 s`, `3 m 20 s`, `2 h 5 m`, `3 d 4 h`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return UNKNOWN;
  const value = Math.max(0, ms);
  if (value < 1) return value === 0 ? "0 ms" : "< 1 ms";
  if (value < SECOND) return `${Math.round(value)} ms`;
  if (value < MINUTE) return `${(Math.floor(value / 100) / 10).toFixed(1)} s`;
  if (value < HOUR) return pair(value, MINUTE, "m", SECOND, "s");
  if (value < DAY) return pair(value, HOUR, "h", MINUTE, "m");
  return pair(value, DAY, "d", HOUR, "h");
}

/** Whole seconds: for what counts up or down on the page. */
export function countdown(ms: number): string {
  const value = Math.max(0, Math.round(ms / SECOND) * SECOND);
  if (value < MINUTE) return `${value / SECOND} s`;
  return duration(value);
}

function pair(value: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((value % big) / small);
  return `${Math.floor(value / big)} ${bigUnit}${rest ? ` ${rest} ${smallUnit}` : ""}`;
}

const relatives = new Map<string, Intl.RelativeTimeFormat>();

/** `2 minutes ago`, `in 3 hours`. */
export function relative(at: number, now: number, language: string): string {
  let format = relatives.get(language);
  if (!format) {
    format = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
    relatives.set(language, format);
  }
  return spaced(steps(at - now, format));
}

/** A space between Chinese and digits, as in all of our Chinese text. */
const spaced = (text: string) => text.replace(/(\d)([\u4e00-\u9fff])/g, "$1 $2");

function steps(away: number, format: Intl.RelativeTimeFormat): string {
  const size = Math.abs(away);
  if (size < 5 * SECOND) return format.format(0, "second");
  if (size < MINUTE) return format.format(Math.trunc(away / SECOND), "second");
  if (size < HOUR) return format.format(Math.trunc(away / MINUTE), "minute");
  if (size < DAY) return format.format(Math.trunc(away / HOUR), "hour");
  if (size < 30 * DAY) return format.format(Math.trunc(away / DAY), "day");
  return format.format(Math.trunc(away / (30 * DAY)), "month");
}

const absolutes = new Map<string, Intl.DateTimeFormat>();

function formatter(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`;
  let format = absolutes.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, hourCycle: "h23", ...options });
    absolutes.set(key, format);
  }
  return format;
}

/** `2026-11-18 02:00:01`, in a zone. The same order in both languages: it sorts, and is read without doubt. */
export function absolute(at: number, zone: string): string {
  return formatter(zone, { dateStyle: "short", timeStyle: "medium" }).format(at);
}

/** `02:00:01`, with milliseconds when wanted. */
export function clock(at: number, zone: string, withMillis = false): string {
  const text = formatter(zone, { timeStyle: "medium" }).format(at);
  return withMillis ? `${text}.${String(((at % SECOND) + SECOND) % SECOND).padStart(3, "0")}` : text;
}

/** `02:00`, or with the day before it when that is not today's. */
export function shortTime(at: number, now: number, zone: string): string {
  const day = formatter(zone, { dateStyle: "short" });
  const time = formatter(zone, { timeStyle: "short" }).format(at);
  const sameDay = day.format(at) === day.format(now);
  return sameDay ? time : `${day.format(at).slice(5)} ${time}`;
}

export const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function millis(at: string | null | undefined): number | undefined {
  if (!at) return undefined;
  const value = Date.parse(at);
  return Number.isNaN(value) ? undefined : value;
}
