// Drafts survive a reload, a closed tab and a lost session: kept in the browser by job and by the revision they are based on.

const PREFIX = "mainspring.draft.";

export const draftKey = (ns: string, job: string | undefined, revision: number | undefined) =>
  `${PREFIX}${ns}/${job ?? ""}@${revision ?? "new"}`;

export function readDraft(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the text; a text like its base needs no draft. */
export function keepDraft(key: string, text: string, base: string) {
  try {
    if (text === base) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // Without storage the draft lasts as long as the page.
  }
}
