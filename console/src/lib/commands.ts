// Actions as text that can be pasted into a shell: the command line and the API call.
import type { OperationId } from "./api/client";
import { urlOf } from "./api/client";
import { PATHS } from "./api/schema";

/** A word for a POSIX shell. */
export const quote = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

export const cli = (...words: (string | undefined)[]) =>
  ["mainspring", ...words.filter((word) => word !== undefined).map((word) => quote(word))].join(" ");

export const cliRuns = (q: string, ns: string | undefined) =>
  cli("runs", ...(ns ? ["-n", ns] : ["-A"]), ...(q ? ["-Q", q] : []));

/** The API call with curl; the token comes from the environment, it is never part of what is copied. */
export function apiCommand(
  operation: OperationId,
  path: Record<string, unknown> = {},
  query: Record<string, unknown> = {},
  body?: unknown,
): string {
  const { method } = PATHS[operation];
  const parts = ["curl -sS", '-H "Authorization: Bearer $MAINSPRING_TOKEN"'];
  if (method !== "GET") parts.push(`-X ${method}`);
  if (body !== undefined)
    parts.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`);
  return [...parts, quote(urlOf(operation, path, query))].join(" ");
}
