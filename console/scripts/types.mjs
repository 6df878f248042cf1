// Writes src/lib/api/schema.ts from docs/openapi.json: one type for each schema, one entry for each operation, and the
// permission table. `--check` fails when the committed file is stale. The common generators need TypeScript 5 beside 7.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const from = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = from("../src/lib/api/schema.ts");
const document = JSON.parse(readFileSync(from("../../docs/openapi.json"), "utf8"));

const stateTarget = from("../src/lib/state/transitions.ts");
const states = readFileSync(from("../../docs/states.md"), "utf8");

const typeName = (name) => name.replaceAll(".", "");
const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** The TypeScript type of a JSON Schema. Formats and limits are the server's to check. */
function type(schema) {
  if (!schema || typeof schema !== "object") return "unknown";
  if (schema.$ref) return typeName(schema.$ref.split("/").at(-1));
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.allOf) return schema.allOf.map((part) => `(${type(part)})`).join(" & ");
  const branches = schema.oneOf ?? schema.anyOf;
  if (branches) {
    const common = schema.properties ? `${object(schema)} & ` : "";
    return `${common}(${[...new Set(branches.map(type))].join(" | ")})`;
  }
  const kinds = Array.isArray(schema.type) ? schema.type : [schema.type];
  return kinds.map((kind) => simple(kind, schema)).join(" | ");
}

function simple(kind, schema) {
  switch (kind) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return `Array<${type(schema.items)}>`;
    case "object":
      return object(schema);
    default:
      return schema.properties ? object(schema) : "unknown";
  }
}

function object(schema) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => `${key(name)}${required.has(name) ? "" : "?"}: ${type(field)};`,
  );
  const rest = schema.additionalProperties;
  if (rest && typeof rest === "object") fields.push(`[key: string]: ${type(rest)};`);
  if (fields.length === 0) return "Record<string, unknown>";
  return `{ ${fields.join(" ")} }`;
}

const comment = (text) => (text ? `/** ${text.replaceAll("*/", "* /").replaceAll("\n", " ")} */\n` : "");

const schemas = Object.entries(document.components.schemas).map(
  ([name, schema]) => `${comment(schema.description)}export type ${typeName(name)} = ${type(schema)};\n`,
);

const parameters = (operation, place) => {
  const found = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
  if (found.length === 0) return "Record<never, never>";
  return `{ ${found.map((p) => `${key(p.name)}${p.required ? "" : "?"}: ${type(p.schema)};`).join(" ")} }`;
};

const operations = [];
const paths = [];
const permissions = [];
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const id = operation.operationId;
    const content = operation.requestBody?.content ?? {};
    const body = content["application/json"];
    const bodyType = body
      ? `${type(body.schema)}${operation.requestBody.required ? "" : " | undefined"}`
      : "undefined";
    const answers = Object.entries(operation.responses)
      .filter(([status]) => status.startsWith("2"))
      .map(([, answer]) => type(answer.content?.["application/json"]?.schema));
    const answer = [...new Set(answers)].filter((text) => text !== "unknown").join(" | ") || "unknown";
    operations.push(
      `  ${id}: { path: ${parameters(operation, "path")}; query: ${parameters(operation, "query")}; body: ${bodyType}; answer: ${answer} };`,
    );
    paths.push(
      `  ${id}: { method: ${JSON.stringify(method.toUpperCase())}, path: ${JSON.stringify(path)} },`,
    );
    for (const permission of operation["x-permission"] ?? []) {
      const { operation: name, place, role } = permission;
      permissions.push(
        `  ${JSON.stringify(name)}: { place: ${JSON.stringify(place)}, role: ${JSON.stringify(role)} },`,
      );
    }
  }
}

const text = `// Generated from docs/openapi.json by \`npm run types\`; do not edit.

${schemas.join("\n")}
/** Parameters, body and answer of each operation. */
export interface Operations {
${operations.join("\n")}
}

/** Method and path of each operation. */
export const PATHS = {
${paths.join("\n")}
} as const satisfies Record<keyof Operations, { method: string; path: string }>;

/** The role that an operation needs, and where: from \`x-permission\`. */
export const PERMISSIONS = {
${[...new Set(permissions)].join("\n")}
} as const;
`;

/** The table of docs/states.md: which command leads from a state to which. */
function transitions() {
  const lines = states.split("\n").filter((line) => line.startsWith("|"));
  const head = lines.find((line) => line.startsWith("| state |"));
  const cells = (line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const commands = cells(head).slice(1);
  const rows = lines
    .filter((line) => line.startsWith("| **"))
    .map((line) => {
      const [state, ...to] = cells(line);
      const found = commands.flatMap((command, index) =>
        to[index] === "–" ? [] : [`${command}: "${to[index]}"`],
      );
      return `  ${state.replaceAll("*", "")}: {${found.length ? ` ${found.join(", ")} ` : ""}},`;
    });
  return `// Generated from docs/states.md by \`npm run types\`; do not edit.
import type { RunState } from "@/lib/api/schema";

export type RunCommand = ${commands.map((command) => `"${command}"`).join(" | ")};

/** Where each command leads from each state; a state without commands is terminal. */
export const TRANSITIONS: Record<RunState, Partial<Record<RunCommand, RunState>>> = {
${rows.join("\n")}
};
`;
}

for (const [path, wanted] of [
  [target, text],
  [stateTarget, transitions()],
]) {
  if (!process.argv.includes("--check")) writeFileSync(path, wanted);
  else if (readFileSync(path, "utf8") !== wanted) {
    console.error(`${path} is stale: run \`npm run types\``);
    process.exitCode = 1;
  }
}
