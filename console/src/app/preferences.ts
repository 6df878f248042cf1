// What a person prefers on this browser: theme, language, zone, density. Kept in localStorage, not in the URL.
import { createContext, useContext, useSyncExternalStore } from "react";
import { localZone } from "@/lib/time/format";

export interface Preferences {
  theme: "auto" | "light" | "dark";
  language: "en" | "zh";
  zone: "local" | "UTC" | "job";
  density: "compact" | "comfortable";
}

/** What can be chosen. */
export const CHOICES = {
  language: ["en", "zh"],
  theme: ["auto", "light", "dark"],
  zone: ["local", "UTC", "job"],
  density: ["compact", "comfortable"],
} as const satisfies { [K in keyof Preferences]: readonly Preferences[K][] };

const KEY = "mainspring.preferences";

function browserLanguage(): Preferences["language"] {
  for (const language of navigator.languages ?? [navigator.language]) {
    if (language.toLowerCase().startsWith("zh")) return "zh";
    if (language.toLowerCase().startsWith("en")) return "en";
  }
  return "en";
}

function load(): Preferences {
  const base: Preferences = { theme: "auto", language: browserLanguage(), zone: "local", density: "compact" };
  try {
    return { ...base, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>) };
  } catch {
    return base;
  }
}

let preferences = load();
const listeners = new Set<() => void>();

export const getPreferences = () => preferences;

export function setPreferences(change: Partial<Preferences>) {
  preferences = { ...preferences, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(preferences));
  } catch {
    // Private windows may refuse; the choice then lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

export const subscribePreferences = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

export const usePreferences = () => useSyncExternalStore(subscribePreferences, getPreferences);

/** The zone of the job that a part of the page is about, for who prefers times in it. */
export const JobZone = createContext<string | undefined>(undefined);

/** The zone that times are shown in. */
export function useZone(): string {
  const { zone } = usePreferences();
  const jobZone = useContext(JobZone);
  if (zone === "UTC") return "UTC";
  return (zone === "job" && jobZone) || localZone();
}
