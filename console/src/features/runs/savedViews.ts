// Queries that a person gave a name, kept in the browser.
import { useState } from "react";

export interface SavedView {
  name: string;
  q: string;
}

const KEY = "mainspring.views";
const VIEWS_MAX = 20;

function read(): SavedView[] {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]") as SavedView[];
    return Array.isArray(found)
      ? found.filter((view) => typeof view.name === "string" && typeof view.q === "string")
      : [];
  } catch {
    return [];
  }
}

export function useSavedViews() {
  const [views, setViews] = useState(read);
  const change = (next: SavedView[]) => {
    setViews(next);
    try {
      localStorage.setItem(KEY, JSON.stringify(next));
    } catch {
      // Without storage they last as long as the page.
    }
  };
  return {
    views,
    save: (view: SavedView) =>
      change([...views.filter((each) => each.name !== view.name), view].slice(-VIEWS_MAX)),
    remove: (name: string) => change(views.filter((each) => each.name !== name)),
  };
}
