import type { Change } from "@/lib/api/schema";

const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** Changes by path: what was there, and what is there now. */
export function DiffView({ changes, none }: { changes: Change[]; none: string }) {
  if (changes.length === 0) return <p className="ms-muted">{none}</p>;
  return (
    <div className="ms-diff">
      {changes.map((change) => (
        <div key={change.path}>
          <code>{change.path}</code>
          {change.before !== undefined && change.before !== null && (
            <pre data-side="before">{mark("−", text(change.before))}</pre>
          )}
          {change.after !== undefined && change.after !== null && (
            <pre data-side="after">{mark("+", text(change.after))}</pre>
          )}
        </div>
      ))}
    </div>
  );
}

const mark = (sign: string, lines: string) =>
  lines
    .split("\n")
    .map((line) => `${sign} ${line}`)
    .join("\n");
