// Who is signed in. A session that ends while a page is open is renewed in place: the page stays, a dialog asks.
import { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { ApiError, call } from "@/lib/api/client";
import type { Permission } from "@/lib/api/permissions";
import { may } from "@/lib/api/permissions";
import type { Identity } from "@/lib/api/schema";
import { noticeServer } from "./server";

export type SessionState =
  | { kind: "unknown" }
  | { kind: "out"; failed?: boolean }
  | { kind: "in"; identity: Identity }
  | { kind: "expired"; identity: Identity };

let state: SessionState = { kind: "unknown" };
const listeners = new Set<() => void>();

function become(next: SessionState) {
  state = next;
  for (const listener of listeners) listener();
}

/** Server state of all pages. Reads are repeated when the server is away, not when it refuses. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => {
        if (error instanceof ApiError && error.status < 500) return false;
        return failures < 2;
      },
      retryDelay: (failures) => Math.min(8000, 500 * 2 ** failures),
    },
  },
});

queries.getQueryCache().subscribe((event) => {
  if (event.type === "updated" && event.action.type === "error") noticeEnd(event.action.error);
});
queries.getMutationCache().subscribe((event) => {
  if (event.type === "updated" && event.action.type === "error") noticeEnd(event.action.error);
});

/** A `401` anywhere means that the session is over. */
export function noticeEnd(error: unknown) {
  if (error instanceof ApiError && error.status === 401 && state.kind === "in") {
    become({ kind: "expired", identity: state.identity });
  }
}

function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("login") ?? undefined;
  // It is good once; the address bar and the history need not keep it.
  if (code) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

/** Signs in with the code of the link, if there is one, else looks whether there is a session. */
export async function startSession() {
  const code = takeCode();
  if (code) {
    const askedAt = Date.now();
    try {
      const session = await call("session_create", { body: { code } });
      return enter(session.identity, askedAt);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The link is used up; the session it made may still be there.
      return look(true);
    }
  }
  return look(false);
}

async function look(failed: boolean) {
  const askedAt = Date.now();
  try {
    enter(await call("me", {}), askedAt);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    become({ kind: "out", failed });
  }
}

function enter(identity: Identity, askedAt: number) {
  const renewed = state.kind === "expired";
  if (identity.server) noticeServer(identity.server, askedAt);
  become({ kind: "in", identity });
  if (renewed) void queries.invalidateQueries();
}

export async function signIn(secret: string) {
  const body = secret.startsWith("msl_") ? { code: secret } : { token: secret };
  const askedAt = Date.now();
  enter((await call("session_create", { body })).identity, askedAt);
}

export async function signOut() {
  try {
    await call("session_delete", {});
  } finally {
    queries.clear();
    become({ kind: "out" });
  }
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

export const useSession = () => useSyncExternalStore(subscribe, () => state);

export function useIdentity(): Identity | undefined {
  const session = useSession();
  return session.kind === "in" || session.kind === "expired" ? session.identity : undefined;
}

/** Whether the person may; the answer takes an operation and a namespace. */
export function useMay() {
  const identity = useIdentity();
  return (operation: Permission, namespace?: string) => may(identity, operation, namespace);
}

addEventListener("hashchange", () => {
  if (location.hash.includes("login=")) void startSession();
});
