import type { Labels } from "./api/schema";

/** Labels as `key=value` texts, in order. */
export const labelTexts = (labels: Labels | undefined): string[] =>
  Object.entries(labels ?? {}).map(([key, value]) => `${key}=${String(value)}`);
