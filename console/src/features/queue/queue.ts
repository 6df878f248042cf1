// What waits, arranged by reason, pool or job.
import type { QueueItem } from "@/lib/api/schema";
import { millis } from "@/lib/time/format";

export const BY = ["reason", "pool", "job"] as const;
export type By = (typeof BY)[number];

/** Reasons with a word of their own; another one shows its code. */
export const REASONS = [
  "resources",
  "no_node",
  "concurrency",
  "rate_limit",
  "priority",
  "suspect",
  "quarantined",
  "paused",
  "cell_paused",
  "overflow",
  "no_owner",
  "begin_time",
  "backoff",
] as const;
export type ReasonName = (typeof REASONS)[number];

export const isKnown = (kind: string): kind is ReasonName => (REASONS as readonly string[]).includes(kind);

export interface QueueGroup {
  key: string;
  count: number;
  /** Since when the one that has waited longest does. */
  oldest: number | undefined;
  /** The most numerous first. */
  items: [QueueItem, ...QueueItem[]];
}

const keyOf = (item: QueueItem, by: By): string =>
  by === "reason" ? item.reason.kind : by === "pool" ? item.pool : `${item.namespace}/${item.job_name}`;

export function groupsOf(items: QueueItem[], by: By): QueueGroup[] {
  const groups = new Map<string, QueueGroup>();
  for (const item of items) {
    const key = keyOf(item, by);
    const oldest = millis(item.oldest);
    const group = groups.get(key);
    if (!group) {
      groups.set(key, { key, count: item.count, oldest, items: [item] });
      continue;
    }
    group.count += item.count;
    group.oldest = Math.min(group.oldest ?? Number.POSITIVE_INFINITY, oldest ?? Number.POSITIVE_INFINITY);
    group.items.push(item);
  }
  for (const group of groups.values()) group.items.sort((a, b) => b.count - a.count);
  return [...groups.values()].sort((a, b) => b.count - a.count || a.key.localeCompare(b.key));
}

/** Groups in the order in which they were first seen: numbers change, places do not. */
export function inOrder(groups: QueueGroup[], before: string[]): QueueGroup[] {
  const place = new Map(before.map((key, index) => [key, index]));
  const placeOf = ({ key }: QueueGroup) => place.get(key) ?? Number.POSITIVE_INFINITY;
  return groups
    .map((group, index) => ({ group, index }))
    .sort((a, b) => {
      const [left, right] = [placeOf(a.group), placeOf(b.group)];
      return left === right ? a.index - b.index : left - right;
    })
    .map(({ group }) => group);
}

/** The query of `GET /v1/runs` that finds these runs. */
export const queryOf = (item: QueueItem): string =>
  `job:${item.job} reason:${item.reason.kind} pool:${item.pool}`;

export function queryOfGroup(group: QueueGroup, by: By): string {
  if (by === "reason") return `reason:${group.key}`;
  const waits = "state:ready,waiting,failed";
  return by === "pool" ? `pool:${group.key} ${waits}` : `job:${group.items[0].job} ${waits}`;
}
