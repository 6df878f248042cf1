// Two runs of a job side by side: version, parameters, node, duration, usage.
import type { TFunction } from "i18next";
import type { Run } from "@/lib/api/schema";
import { bytes } from "@/lib/size";
import { duration, millis, UNKNOWN } from "@/lib/time/format";

export interface Compared {
  name: string;
  before: string;
  after: string;
}

const TEXT_MAX = 120;

const text = (value: unknown): string => {
  if (value === undefined || value === null) return UNKNOWN;
  const whole = typeof value === "string" ? value : JSON.stringify(value);
  return whole.length > TEXT_MAX ? `${whole.slice(0, TEXT_MAX)}…` : whole;
};

const took = (run: Run) => {
  const [from, until] = [millis(run.started_at), millis(run.finished_at)];
  return from !== undefined && until !== undefined ? duration(until - from) : UNKNOWN;
};

export function compare(before: Run, after: Run, t: TFunction): Compared[] {
  const rows: Compared[] = [
    { name: t("run.fact.version"), before: `v${before.job_version}`, after: `v${after.job_version}` },
    { name: t("run.fact.node"), before: text(before.node_name), after: text(after.node_name) },
  ];
  const [old, now] = [asRecord(before.params), asRecord(after.params)];
  for (const name of [...new Set([...Object.keys(old), ...Object.keys(now)])].sort()) {
    rows.push({ name, before: text(old[name]), after: text(now[name]) });
  }
  rows.push({ name: t("run.fact.took"), before: took(before), after: took(after) });
  const memory = (run: Run) => (run.usage?.memory_peak_bytes ? bytes(run.usage.memory_peak_bytes) : UNKNOWN);
  rows.push({ name: t("run.fact.memory"), before: memory(before), after: memory(after) });
  return rows;
}

function asRecord(value: unknown): Record<string, unknown> {
  return value && typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
