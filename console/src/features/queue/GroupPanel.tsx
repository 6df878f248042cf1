import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { RelativeTime } from "@/components/ui/Time";
import type { QueueItem } from "@/lib/api/schema";
import { reasonWords } from "@/lib/state/words";
import { millis, shortTime } from "@/lib/time/format";
import { type By, isKnown, type QueueGroup, queryOf, queryOfGroup } from "./queue";

const SHOWN = 5;

interface GroupPanelProps {
  group: QueueGroup;
  by: By;
  ns: string | undefined;
}

/** One group of waiting runs: how many, since when, what they wait for, and what would let them go on. */
export function GroupPanel({ group, by, ns }: GroupPanelProps) {
  const { t, i18n } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const number = new Intl.NumberFormat(i18n.language);
  const [first] = group.items;
  const shown = isOpen ? group.items : group.items.slice(0, SHOWN);
  const runs = t("queue.runs", { count: group.count, number: number.format(group.count) });
  return (
    <section className="ms-panel ms-queue-group" aria-label={titleOf(group, by, t)}>
      <div className="ms-queue-head">
        <h2>
          {by === "job" ? (
            <Link to="/jobs/$job" params={{ job: first.job_name }} search={{ ns: first.namespace }}>
              {group.key}
            </Link>
          ) : (
            titleOf(group, by, t)
          )}
        </h2>
        {by === "reason" && <code>{group.key}</code>}
        <Link to="/runs" search={{ q: queryOfGroup(group, by), ns }}>
          {runs}
        </Link>
        <span className="ms-muted">
          {t("queue.oldest")} <RelativeTime at={group.oldest} />
        </span>
      </div>
      <table className="ms-queue-items" data-by={by}>
        <thead>
          <tr>
            {by !== "job" && <th>{t("queue.by.job")}</th>}
            {by !== "pool" && <th>{t("queue.by.pool")}</th>}
            <th data-align="end">{t("queue.count")}</th>
            <th>{t("queue.oldest")}</th>
            <th>{t("queue.why")}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((item) => (
            <tr key={`${item.job} ${item.pool} ${item.reason.kind}`}>
              {by !== "job" && (
                <td>
                  <Link to="/jobs/$job" params={{ job: item.job_name }} search={{ ns: item.namespace }}>
                    {item.job_name}
                  </Link>{" "}
                  <span className="ms-faint">{item.namespace}</span>
                </td>
              )}
              {by !== "pool" && <td>{item.pool}</td>}
              <td data-align="end">
                <Link to="/runs" search={{ q: queryOf(item), ns: item.namespace }}>
                  {number.format(item.count)}
                </Link>
              </td>
              <td>
                <RelativeTime at={item.oldest} />
              </td>
              <td>
                <Why item={item} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {group.items.length > SHOWN && (
        <button type="button" className="ms-link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t("queue.fewer") : t("queue.more", { count: group.items.length - SHOWN })}
        </button>
      )}
    </section>
  );
}

function titleOf(group: QueueGroup, by: By, t: TFunction): string {
  if (by === "reason") return isKnown(group.key) ? t(`queue.reason.${group.key}`) : group.key;
  return group.key;
}

/** What the first of these runs waits for, and what would unblock it. */
function Why({ item }: { item: QueueItem }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const now = Date.now();
  const { message, remedy } = reasonWords(item.reason, t, i18n.language, (at) =>
    shortTime(millis(at) ?? now, now, zone),
  );
  return (
    <>
      <div>{message}</div>
      <div className="ms-muted">
        {remedy}{" "}
        <Link
          to="/runs/$run"
          params={{ run: item.first }}
          search={(before) => ({ ns: before.ns })}
          title={item.first}
        >
          {t("queue.first")}
        </Link>
      </div>
    </>
  );
}
