// Amounts of memory and CPU: the API's quantity texts to numbers, and numbers to short text.

const FACTORS: Record<string, number> = {
  "": 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Bytes of `24684100Ki`, `8Gi`, `512`. */
export function toBytes(size: string | number | null | undefined): number | undefined {
  if (typeof size === "number") return size;
  const match = /^([\d.]+)\s*([KMGTk]i?)?B?$/.exec(size ?? "");
  const factor = match && FACTORS[match[2] ?? ""];
  return match && factor !== undefined ? Number(match[1]) * (factor as number) : undefined;
}

/** Cores of `2`, `500m`, `1.5`. */
export function toCores(cpu: string | number | null | undefined): number | undefined {
  if (typeof cpu === "number") return cpu;
  const match = /^([\d.]+)(m?)$/.exec(cpu ?? "");
  return match ? Number(match[1]) / (match[2] ? 1000 : 1) : undefined;
}

/** `3.9 GiB`. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  let rest = value;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (rest < 1024) return `${rest < 10 && unit !== "B" ? rest.toFixed(1) : Math.round(rest)} ${unit}`;
    rest /= 1024;
  }
  return `${rest < 10 ? rest.toFixed(1) : Math.round(rest)} TiB`;
}

export const cores = (value: number | null | undefined) =>
  value === null || value === undefined ? "–" : String(Math.round(value * 100) / 100);
