// Search parameters as plain text: `?q=state:failed`, not JSON, so that links can be written by hand.

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  if (pairs.length === 0) return "";
  const encode = (part: string) =>
    encodeURIComponent(part).replace(/%3A/g, ":").replace(/%2F/g, "/").replace(/%2C/g, ",");
  return `?${pairs.map(([name, value]) => `${name}=${encode(value === true ? "1" : String(value))}`).join("&")}`;
}
