// Keys that work on every page, outside of inputs: `/` query, `?` help, `.` actions, `y` copy link, `g` and a letter to go
// somewhere. Ctrl-K or Cmd-K opens the palette, in inputs too.
import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { copyText } from "@/lib/clipboard";
import { PAGES } from "./navigation";

const SEQUENCE_MS = 1200;

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
/** How the modifier of Ctrl-K is written on this machine. */
export const MOD = isApple ? "⌘" : "Ctrl";

export const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** What is shown over the page. */
type Overlay = "help" | "palette" | "actions";

const isPaletteKey = (event: KeyboardEvent) =>
  event.key.toLowerCase() === "k" && (isApple ? event.metaKey : event.ctrlKey) && !event.altKey;

export function useKeys() {
  const router = useRouter();
  const [shown, show] = useState<Overlay>();
  useEffect(() => {
    let goAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      const isCovered = document.querySelector('[role="dialog"]') !== null;
      if (isPaletteKey(event)) {
        event.preventDefault();
        if (!isCovered) show("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isCovered) return;
      const ns = (router.state.location.search as { ns?: string }).ns;
      const page = PAGES.find(({ key }) => key === event.key);
      if (page && event.timeStamp - goAt < SEQUENCE_MS) {
        event.preventDefault();
        void router.navigate({ to: page.to, search: { ns } });
        goAt = Number.NEGATIVE_INFINITY;
      } else if (event.key === "g") goAt = event.timeStamp;
      else if (event.key === "?") show("help");
      else if (event.key === ".") show("actions");
      else if (event.key === "y") void copyText(location.href);
      else if (event.key === "/") {
        event.preventDefault();
        const field = document.querySelector<HTMLElement>("[data-search-field]");
        if (field) field.focus();
        else show("palette");
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [router]);
  return { shown, show, close: () => show(undefined) };
}

/** Keys of one page. `handlers` maps a key to what it does. */
export function usePageKeys(handlers: Record<string, (() => void) | undefined>) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"], [role="menu"]')) return;
      const handler = handlers[event.key];
      if (!handler) return;
      event.preventDefault();
      handler();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [handlers]);
}
