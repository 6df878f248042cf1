import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { queueRoute } from "@/app/router";
import { useNamespace } from "@/app/useNamespace";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { PageHeader } from "@/components/ui/PageHeader";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { RelativeTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import { GroupPanel } from "./GroupPanel";
import { BY, type By, groupsOf, inOrder } from "./queue";
import { ReasonBar } from "./ReasonBar";
import "./queue.css";

const REFRESH_MS = 2000;
const SHOWN = 50;

/** What waits, for what, since when, and what would let it go on. */
export function QueuePage() {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate({ from: "/queue" });
  const ns = useNamespace();
  const { by = "reason", reason } = queueRoute.useSearch();
  const queue = useQuery({
    queryKey: ["queue", ns ?? ""],
    queryFn: ({ signal }) => call("queue", { query: { namespace: ns }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const items = queue.data?.items;
  const reasons = useMemo(() => groupsOf(items ?? [], "reason"), [items]);
  const shown = useMemo(
    () => (items ?? []).filter((item) => !reason || item.reason.kind === reason),
    [items, reason],
  );
  const groups = useStill(
    useMemo(() => groupsOf(shown, by), [shown, by]),
    `${by} ${ns} ${reason}`,
  );
  const number = new Intl.NumberFormat(i18n.language);
  const change = (next: { by?: Exclude<By, "reason"> | undefined; reason?: string | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }) });
  const data = queue.data;
  const bound = data?.partial || data?.unanswered?.length ? "≥ " : "";
  return (
    <div className="ms-page">
      <PageHeader
        title={t("nav.queue")}
        note={
          data && (
            <>
              {bound}
              {t("queue.waiting", { count: data.waiting, number: number.format(data.waiting) })} ·{" "}
              {t("queue.looked")} <RelativeTime at={data.at} />
            </>
          )
        }
      >
        <SegmentedControl
          aria-label={t("queue.by.label")}
          value={by}
          data={BY.map((each) => ({ value: each, label: t(`queue.by.${each}`) }))}
          onChange={(next) => change({ by: next === "reason" ? undefined : next })}
        />
      </PageHeader>
      {data && (data.unanswered?.length ?? 0) > 0 && (
        <p className="ms-note">{t("queue.unanswered", { cells: data.unanswered?.join(", ") })}</p>
      )}
      {data?.partial && <p className="ms-muted">{t("queue.partial")}</p>}
      {queue.error && data && <ErrorFace error={queue.error} onRetry={() => void queue.refetch()} />}
      {queue.isPending ? (
        <TableSkeleton />
      ) : !data ? (
        <ErrorFace error={queue.error} onRetry={() => void queue.refetch()} />
      ) : data.items.length === 0 ? (
        <Face kind="empty" title={t("queue.none")} text={t("queue.none_text")} />
      ) : (
        <>
          <ReasonBar groups={reasons} chosen={reason} onChoose={(kind) => change({ reason: kind })} />
          {groups.length === 0 && (
            <Face kind="empty" title={t("queue.no_match", { reason: reason ?? "" })}>
              <Button onClick={() => change({ reason: undefined })}>{t("queue.show_all")}</Button>
            </Face>
          )}
          {groups.slice(0, SHOWN).map((group) => (
            <GroupPanel key={group.key} group={group} by={by} ns={ns} />
          ))}
          {groups.length > SHOWN && (
            <p className="ms-muted">{t("queue.more_groups", { count: groups.length - SHOWN })}</p>
          )}
        </>
      )}
    </div>
  );
}

/** The groups at the places where they were first seen, until another view is asked for. */
function useStill(groups: ReturnType<typeof groupsOf>, view: string) {
  const seen = useRef<{ view: string; keys: string[] }>({ view, keys: [] });
  const ordered = inOrder(groups, seen.current.view === view ? seen.current.keys : []);
  seen.current = { view, keys: ordered.map(({ key }) => key) };
  return ordered;
}
