import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { call } from "@/lib/api/client";
import type { Node } from "@/lib/api/schema";
import { labelTexts } from "@/lib/labels";
import { useWatch } from "@/lib/live/live";
import type { WatchEvent } from "@/lib/live/message";
import { throttled } from "@/lib/live/throttle";
import { NODE_FACES, nodeFace } from "@/lib/state/node";

/** Load and silence come without events. */
const REFRESH_MS = 3000;

export function useNodes(pool: string | undefined) {
  const client = useQueryClient();
  const nodes = useQuery({
    queryKey: ["nodes", pool ?? ""],
    queryFn: ({ signal }) => call("node_list", { query: { pool, limit: 1000 }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const pools = useQuery({
    queryKey: ["pools"],
    queryFn: ({ signal }) => call("pool_list", { signal }),
    refetchInterval: REFRESH_MS,
  });
  const reread = useMemo(
    () =>
      throttled(
        () =>
          void Promise.all([
            client.invalidateQueries({ queryKey: ["nodes"] }),
            client.invalidateQueries({ queryKey: ["pools"] }),
          ]),
        1000,
      ),
    [client],
  );
  useEffect(() => () => reread.cancel(), [reread]);
  useWatch(
    useCallback(
      (event: WatchEvent) => {
        if (event.kind === "reset" || event.kind === "node") reread();
      },
      [reread],
    ),
  );
  return { nodes, pools };
}

/** Trouble first, then by pool and name; a row keeps its place while its numbers change. */
export function sortNodes(nodes: Node[]): Node[] {
  const trouble = (node: Node) => NODE_FACES[nodeFace(node)].trouble;
  return [...nodes].sort(
    (a, b) => trouble(b) - trouble(a) || a.pool.localeCompare(b.pool) || a.name.localeCompare(b.name),
  );
}

export function filterNodes(nodes: Node[], q: string): Node[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return nodes.filter((node) => {
    const text = [node.name, node.id, ...labelTexts(node.labels), ...labelTexts(node.assigned_labels)]
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
