// Which entries a query finds, the best first: every word of it stands in the label or in the other names of the entry, or is
// made of the pinyin initials of a Chinese label.
import { initials } from "./initials";

export interface Matchable {
  label: string;
  /** Other names: the English word, the id, the namespace. */
  alias?: string | undefined;
}

const SEPARATOR = /[\s/._:·-]/;

/** How well a word stands in a text: 3 at its beginning, 2 at the beginning of a word, 1 inside, 0 not at all. */
function rank(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  if (at === 0) return 3;
  for (let found = at; found >= 0; found = text.indexOf(word, found + 1))
    if (SEPARATOR.test(text.charAt(found - 1))) return 2;
  return 1;
}

/** 0 for no match. */
export function score(item: Matchable, words: string[]): number {
  const texts = [item.label, item.alias ?? "", initials(item.label)].map((text) => text.toLowerCase());
  let total = 1;
  for (const word of words) {
    const best = Math.max(...texts.map((text, index) => (index === 1 ? 0.5 : 1) * rank(text, word)));
    if (best === 0) return 0;
    total += best;
  }
  return total;
}

const wordsOf = (query: string) => query.toLowerCase().split(/\s+/).filter(Boolean);

/** What the query finds of each list, the best list and the best of each first; equals stay in their order. */
export function find<T extends Matchable>(lists: T[][], query: string, max: number): T[] {
  const words = wordsOf(query);
  if (words.length === 0) return lists.flat();
  return lists
    .map((items) =>
      items
        .map((item) => ({ item, score: score(item, words) }))
        .filter((found) => found.score > 0)
        .sort((a, b) => b.score - a.score)
        .slice(0, max),
    )
    .sort((a, b) => (b[0]?.score ?? 0) - (a[0]?.score ?? 0))
    .flatMap((found) => found.map(({ item }) => item));
}
