// A specification as YAML text, for versions whose text was not kept or is in another language.

const PLAIN = /^[A-Za-z_/.][\w ./@+-]*$/;
const WORDS = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"]);

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isPlain =
    PLAIN.test(value) && !WORDS.has(value.toLowerCase()) && !value.endsWith(" ") && !value.includes(": ");
  return isPlain ? value : JSON.stringify(value);
}

const isEmpty = (value: object) => Object.keys(value).length === 0;

function block(value: unknown, indent: string): string {
  if (value === null || typeof value !== "object") {
    if (typeof value === "string" && value.includes("\n") && !/^\s|[ \t]\n|\r/.test(value)) {
      const ending = value.endsWith("\n") ? (value.endsWith("\n\n") ? "|+" : "|") : "|-";
      const lines = value.replace(/\n$/, "").split("\n");
      return ` ${ending}\n${lines.map((line) => (line ? `${indent}${line}` : "")).join("\n")}\n`;
    }
    return ` ${scalar(value)}\n`;
  }
  if (isEmpty(value)) return Array.isArray(value) ? " []\n" : " {}\n";
  if (Array.isArray(value)) {
    return `\n${value.map((item) => `${indent}-${nested(item, `${indent}  `)}`).join("")}`;
  }
  return `\n${fields(value as Record<string, unknown>, indent)}`;
}

/** An item of a list: its first field stands behind the dash. */
function nested(item: unknown, indent: string): string {
  if (item !== null && typeof item === "object" && !Array.isArray(item) && !isEmpty(item)) {
    return ` ${fields(item as Record<string, unknown>, indent).slice(indent.length)}`;
  }
  return block(item, indent);
}

function fields(value: Record<string, unknown>, indent: string): string {
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => `${indent}${scalar(key)}:${block(inner, `${indent}  `)}`)
    .join("");
}

export const toYaml = (value: Record<string, unknown>) => fields(value, "");

/** The name that a draft gives its job. */
export function nameIn(text: string): string | undefined {
  const found = /^name:[ \t]*["']?([^\s"'#]+)/m.exec(text)?.[1];
  return found || undefined;
}
