// Which rows of a long list are drawn. Browsers lay out at most about 16 million pixels, so the scrolled height is capped and
// positions are scaled; the wheel and the keys still move by rows.

export const ROW_PX = 20;
export const SPACER_MAX_PX = 8_000_000;
const OVERSCAN = 12;

export interface Window {
  /** Height of the scrolled content. */
  spacer: number;
  /** Pixels of the list for each pixel of the scroll bar; 1 for short lists. */
  scale: number;
}

export function windowOf(rows: number, viewport: number, rowPx = ROW_PX): Window {
  const full = rows * rowPx;
  if (full <= SPACER_MAX_PX) return { spacer: full, scale: 1 };
  return { spacer: SPACER_MAX_PX, scale: (full - viewport) / (SPACER_MAX_PX - viewport) };
}

export interface Slice {
  from: number;
  until: number;
  /** Where the first drawn row stands, in pixels of the scrolled content. */
  offset: number;
}

/** The rows to draw for a position, which is in pixels of the whole list. */
export function slice(
  rows: number,
  position: number,
  viewport: number,
  window: Window,
  rowPx = ROW_PX,
): Slice {
  const from = Math.max(0, Math.floor(position / rowPx) - OVERSCAN);
  const until = Math.min(rows, Math.ceil((position + viewport) / rowPx) + OVERSCAN);
  const scrolled = position / window.scale;
  return { from, until, offset: scrolled - (position - from * rowPx) };
}

export const positionMax = (rows: number, viewport: number, rowPx = ROW_PX) =>
  Math.max(0, rows * rowPx - viewport);

export const clamp = (value: number, most: number) => Math.min(Math.max(0, value), most);
