import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { absolute, duration, millis, relative, UNKNOWN } from "@/lib/time/format";
import { useNow } from "@/lib/time/now";

type At = string | number | null | undefined;
const toMillis = (at: At) => (typeof at === "number" ? at : millis(at));

/** How long ago, with the moment on hover; for lists. */
export function RelativeTime({ at }: { at: At }) {
  const { i18n } = useTranslation();
  const zone = useZone();
  const now = useNow();
  const value = toMillis(at);
  if (value === undefined) return UNKNOWN;
  return (
    <time dateTime={new Date(value).toISOString()} title={`${absolute(value, zone)} ${zone}`}>
      {relative(value, now, i18n.language)}
    </time>
  );
}

/** The moment in the reader's zone, which is named; for detail pages. */
export function ZonedTime({ at }: { at: At }) {
  const zone = useZone();
  const value = toMillis(at);
  if (value === undefined) return UNKNOWN;
  return (
    <time dateTime={new Date(value).toISOString()}>
      {absolute(value, zone)} <span className="ms-faint">{zone}</span>
    </time>
  );
}

/** A duration; without an end it counts up. */
export function Elapsed({ from, until }: { from: At; until?: At }) {
  const begin = toMillis(from);
  const end = toMillis(until);
  if (begin === undefined) return UNKNOWN;
  if (end !== undefined) return duration(end - begin);
  return <Running from={begin} />;
}

function Running({ from }: { from: number }) {
  const now = useNow();
  return duration(Math.max(0, Math.floor((now - from) / 1000) * 1000) || 0);
}
