import { useQuery } from "@tanstack/react-query";
import { ApiError, call } from "@/lib/api/client";
import type { Calendar } from "@/lib/api/schema";

const REFRESH_MS = 15_000;

export const calendarKey = (ns: string, name: string) => ["calendar", ns, name];

export function useCalendars(ns: string | undefined) {
  return useQuery({
    queryKey: ["calendars", ns ?? ""],
    queryFn: ({ signal }) => call("calendar_list", { query: { namespace: ns, limit: 1000 }, signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** The calendar that a trigger of this namespace heeds: its own, or that of the nearest namespace above. */
async function nearest(ns: string, name: string, signal: AbortSignal): Promise<Calendar> {
  try {
    return await call("calendar_get", { path: { calendar: name }, query: { namespace: ns }, signal });
  } catch (error) {
    const above = ns.split("/").slice(0, -1).join("/");
    if (!above || !(error instanceof ApiError) || error.status !== 404) throw error;
    return nearest(above, name, signal);
  }
}

export function useCalendar(ns: string, name: string) {
  return useQuery({
    queryKey: calendarKey(ns, name),
    queryFn: ({ signal }) => nearest(ns, name, signal),
    refetchInterval: REFRESH_MS,
  });
}

/** The triggers that heed a calendar, as far as they may be seen: those in its namespace and below that name it. */
export function useHeeding({ namespace, name }: Pick<Calendar, "namespace" | "name">) {
  return useQuery({
    queryKey: ["triggers", namespace],
    queryFn: ({ signal }) => call("trigger_list", { query: { namespace, limit: 1000 }, signal }),
    select: (page) => ({
      items: page.items.filter(({ spec }) => [spec.calendar ?? []].flat().includes(name)),
      isExact: !page.next_cursor,
    }),
  });
}
