import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { call } from "@/lib/api/client";

const REFRESH_MS = 10_000;

/** How many runs the query finds, and how many of them run; at least so many where not all were looked at. */
export function RunsCount({ q, ns }: { q: string; ns: string | undefined }) {
  const { t, i18n } = useTranslation();
  const { data } = useQuery({
    queryKey: ["run-counts", q, ns ?? ""],
    queryFn: ({ signal }) => call("run_counts", { query: { q, namespace: ns }, signal }),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS / 2,
    retry: false,
  });
  if (!data || data.matched === 0) return null;
  const format = (count: number) =>
    `${data.exact ? "" : "≥ "}${new Intl.NumberFormat(i18n.language).format(count)}`;
  const running = data.states.running ?? 0;
  return (
    <span>
      {format(data.matched)}
      {running > 0 && ` · ${t("runs.running", { running: format(running) })}`}
    </span>
  );
}
