// Web addresses inside log text. Only http and https become links.

export interface Piece {
  text: string;
  href?: string;
}

const ADDRESS = /https?:\/\/[^\s<>"'`\\^{}|]+/g;

export function pieces(text: string): Piece[] {
  if (!text.includes("://")) return [{ text }];
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    // Punctuation after an address belongs to the sentence.
    const href = match[0].replace(/[.,;:!?)\]]+$/, "");
    if (match.index > from) found.push({ text: text.slice(from, match.index) });
    found.push({ text: href, href });
    from = match.index + href.length;
  }
  if (from < text.length) found.push({ text: text.slice(from) });
  return found;
}
