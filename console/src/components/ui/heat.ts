// Cells of a heat map: amounts as steps of one colour, so that few and many are told apart at a glance.

export interface HeatCell {
  key: string;
  /** Nothing where there is no such cell, such as an hour that clocks leave out. */
  value: number | undefined;
  /** Everything about the cell in words. */
  label: string;
  isFaint?: boolean;
}

export interface HeatRow {
  key: string;
  label: string;
  /** Before the label, where there is room. */
  detail: string;
  cells: HeatCell[];
}

const STEPS = 5;

/** 0 for nothing, up to 5 for the most, on a square-root scale: one crowded hour does not hide the others. */
export function stepOf(value: number | undefined, most: number): number {
  if (!value || most <= 0) return 0;
  return Math.max(1, Math.min(STEPS, Math.ceil(Math.sqrt(value / most) * STEPS)));
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** `12`, `1.2K`: what fits into a cell. */
export const short = (value: number): string => compact.format(value);
