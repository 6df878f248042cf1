// Rows of a table as CSV or JSON, made in the browser from what is loaded.

/** The columns of the CSV, by name. The JSON has the rows as they are. */
export type ExportFields<T> = Record<string, (row: T) => unknown>;

/** Fields that are called as they are in the row. */
export const fieldsNamed = <T extends object>(...names: (keyof T & string)[]): ExportFields<T> =>
  Object.fromEntries(names.map((name) => [name, (row: T) => row[name]]));

/** A cell that a spreadsheet does not take for a formula. */
function cell(value: unknown): string {
  const text =
    value === null || value === undefined
      ? ""
      : typeof value === "object"
        ? JSON.stringify(value)
        : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toCsv<T>(rows: T[], fields: ExportFields<T>): string {
  const lines = rows.map((row) =>
    Object.values(fields)
      .map((value) => cell(value(row)))
      .join(","),
  );
  return [Object.keys(fields).join(","), ...lines].join("\r\n");
}

export function saveFile(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
