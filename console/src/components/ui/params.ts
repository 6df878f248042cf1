// Typed parameters as form fields: each value is edited as text and read back by its type.
import type { JobSpecParameters } from "@/lib/api/schema";

export interface Field {
  name: string;
  type: string;
  description: string;
  required: boolean;
  values: string[];
  default: unknown;
}

export function fieldsOf(parameters: JobSpecParameters): Field[] {
  return Object.entries(parameters).map(([name, parameter]) => {
    const whole =
      typeof parameter === "string" ? { type: parameter } : (parameter as Record<string, unknown>);
    return {
      name,
      type: String(whole.type ?? "string"),
      description: String(whole.description ?? ""),
      required: whole.required === true || (whole.required === undefined && whole.default === undefined),
      values: (whole.values as string[] | undefined) ?? [],
      default: whole.default,
    };
  });
}

const isPlain = (type: string) => type === "string" || type === "enum";

export function toTexts(fields: Field[], params: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    fields.map((field) => {
      const value = params[field.name] ?? field.default;
      if (value === undefined || value === null) return [field.name, ""];
      return [field.name, isPlain(field.type) ? String(value) : JSON.stringify(value)];
    }),
  );
}

export type ParamProblem = "required" | "number" | "integer" | "json";

export function fromTexts(fields: Field[], texts: Record<string, string>) {
  const params: Record<string, unknown> = {};
  const problems: Record<string, ParamProblem> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? "";
    if (text === "") {
      if (field.required) problems[field.name] = "required";
      continue;
    }
    if (isPlain(field.type)) params[field.name] = text;
    else if (field.type === "integer" || field.type === "number") {
      const value = Number(text);
      const isRight = field.type === "integer" ? Number.isInteger(value) : Number.isFinite(value);
      if (isRight) params[field.name] = value;
      else problems[field.name] = field.type;
    } else {
      try {
        params[field.name] = JSON.parse(text);
      } catch {
        problems[field.name] = "json";
      }
    }
  }
  return { params, problems };
}
