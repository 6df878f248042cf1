import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useIdentity, useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { call } from "@/lib/api/client";
import type { Node } from "@/lib/api/schema";
import { labelTexts } from "@/lib/labels";
import { NODE_FACES, nodeFace } from "@/lib/state/node";

/** Reservations, use and silence come without events. */
const REFRESH_MS = 5000;
/** The last hour has a sample a minute. */
const LOAD_MS = 60_000;
const LOAD_NODES = 200;

/** Nodes and pools; who may not look at them everywhere sees them as viewers of a namespace do. */
export function useNodes(pool: string | undefined) {
  const mayDo = useMay();
  const identity = useIdentity();
  const ns = useNamespace() ?? identity?.grants.find((grant) => grant.namespace)?.namespace ?? undefined;
  const isFull = mayDo("node.list");
  const namespace = isFull ? undefined : ns;
  const nodes = useQuery({
    queryKey: ["nodes", pool ?? "", namespace ?? ""],
    queryFn: ({ signal }) => call("node_list", { query: { pool, namespace, limit: 1000 }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const pools = useQuery({
    queryKey: ["pools", namespace ?? ""],
    queryFn: ({ signal }) => call("pool_list", { query: { namespace }, signal }),
    refetchInterval: REFRESH_MS,
  });
  const load = useQuery({
    queryKey: ["node-load", pool ?? ""],
    queryFn: ({ signal }) => call("node_list", { query: { pool, with: "load", limit: LOAD_NODES }, signal }),
    // The first sample of a node comes with its first words.
    refetchInterval: ({ state }) => (state.data?.items.some((node) => node.load) ? LOAD_MS : REFRESH_MS),
    enabled: isFull,
  });
  const loads = useMemo(
    () => new Map((load.data?.items ?? []).map((node) => [node.id, node.load ?? undefined])),
    [load.data],
  );
  return { nodes, pools, loads, isFull };
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
