// ANSI text to spans. Only SGR (colours, bold, dim, italic, underline) has an effect; other escapes are dropped, and other
// control characters are shown by their code point. Colours are names of classes: the theme decides how they look.

export interface Span {
  text: string;
  /** Class names, such as `fg-red bold`; empty for plain text. */
  look: string;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

// CSI sequences, OSC up to its end, and other two-character escapes.
const ESCAPES =
  /\u001b(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])/g;

/** Controls, and the marks that change the direction of text: what is shown must be what was written. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export const showHidden = (text: string) =>
  text.replace(
    HIDDEN,
    (char) => `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );

/** What a terminal would leave of a line that was written over with `\r`. */
export function lastState(text: string): string {
  const trimmed = text.endsWith("\r") ? text.slice(0, -1) : text;
  const at = trimmed.lastIndexOf("\r");
  return at < 0 ? trimmed : trimmed.slice(at + 1);
}

/** The text without escapes: what is searched and copied. */
export const plain = (text: string) => showHidden(lastState(text).replace(ESCAPES, ""));

interface Style {
  fg: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}

const PLAIN: Style = { fg: "", bold: false, dim: false, italic: false, underline: false, inverse: false };

export function spans(line: string): Span[] {
  const text = lastState(line);
  if (!text.includes("\u001b")) return text ? [{ text: showHidden(text), look: "" }] : [];
  const found: Span[] = [];
  let style = PLAIN;
  let from = 0;
  const push = (part: string) => {
    if (part) found.push({ text: showHidden(part), look: look(style) });
  };
  for (const match of text.matchAll(ESCAPES)) {
    push(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") style = apply(style, match[1] ?? "");
  }
  push(text.slice(from));
  return found;
}

function look(style: Style): string {
  const names: string[] = [];
  if (style.fg) names.push(`fg-${style.fg}`);
  for (const name of ["bold", "dim", "italic", "underline", "inverse"] as const)
    if (style[name]) names.push(name);
  return names.join(" ");
}

function apply(before: Style, codes: string): Style {
  const style = { ...before };
  const numbers = codes.split(/[;:]/).map((code) => Number(code || 0));
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 0) Object.assign(style, PLAIN);
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.inverse = false;
    else if (code >= 30 && code <= 37) style.fg = NAMES[code - 30] ?? "";
    else if (code >= 90 && code <= 97) style.fg = NAMES[code - 90] ?? "";
    else if (code === 39) style.fg = "";
    else if (code === 38 || code === 48) {
      const [name, used] = extended(numbers.slice(at + 1));
      if (code === 38) style.fg = name;
      at += used;
    }
  }
  return style;
}

/** 256 and 24-bit colours, as the nearest of the theme's: those can be read on both backgrounds. */
function extended(rest: number[]): [name: string, used: number] {
  if (rest[0] === 2) return [nearest(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0), 4];
  if (rest[0] !== 5) return ["", rest.length];
  const index = rest[1] ?? 0;
  if (index < 16) return [NAMES[index % 8] ?? "", 2];
  if (index >= 232) return [index < 244 ? "black" : "", 2];
  const step = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return [nearest(step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6)), 2];
}

function nearest(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 100 ? "black" : "";
  const middle = least + (most - least) / 2;
  const bits = (red > middle ? 1 : 0) | (green > middle ? 2 : 0) | (blue > middle ? 4 : 0);
  return NAMES[bits] ?? "";
}
