// Keys that work on every page, outside of inputs: `/` query, `?` help, `g` and a letter to go somewhere.
import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";

const GO = { o: "/", r: "/runs", j: "/jobs", n: "/nodes" } as const;
const SEQUENCE_MS = 1200;

export const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function useKeys() {
  const router = useRouter();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    let goAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"]')) return;
      const ns = (router.state.location.search as { ns?: string }).ns;
      if (event.timeStamp - goAt < SEQUENCE_MS && event.key in GO) {
        event.preventDefault();
        void router.navigate({ to: GO[event.key as keyof typeof GO], search: { ns } });
        goAt = Number.NEGATIVE_INFINITY;
      } else if (event.key === "g") goAt = event.timeStamp;
      else if (event.key === "?") setOpen(true);
      else if (event.key === "/") {
        const field = document.querySelector<HTMLElement>("[data-search-field]");
        if (field) event.preventDefault();
        field?.focus();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [router]);
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false) };
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
