// Rows of a table as CSV or JSON, made in the browser from what is loaded.
import type { Run } from "@/lib/api/schema";

const FIELDS = [
  "id",
  "namespace",
  "job_name",
  "job_version",
  "state",
  "attempt",
  "submitted_by",
  "trigger",
  "node_name",
  "created_at",
  "started_at",
  "finished_at",
] as const satisfies (keyof Run)[];

/** A cell that a spreadsheet does not take for a formula. */
function cell(value: unknown): string {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const toCsv = (runs: Run[]) =>
  [FIELDS.join(","), ...runs.map((run) => FIELDS.map((field) => cell(run[field])).join(","))].join("\r\n");

export function download(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
