// Moments of a `datetime-local` field, read in the browser's own zone or in UTC.

const pad = (value: number) => String(value).padStart(2, "0");

/** `2026-11-18T02:00` of an ISO moment; nothing when there is none. */
export function toField(at: string | undefined, zone: "local" | "UTC"): string {
  const date = at ? new Date(at) : undefined;
  if (!date || Number.isNaN(date.getTime())) return "";
  if (zone === "UTC") return date.toISOString().slice(0, 16);
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** The ISO moment of what the field holds; nothing while it is not whole. */
export function fromField(text: string, zone: "local" | "UTC"): string | undefined {
  if (!text) return undefined;
  const date = new Date(zone === "UTC" ? `${text}Z` : text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
