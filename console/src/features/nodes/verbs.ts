import type { Node } from "@/lib/api/schema";
import { nodeFace } from "@/lib/state/node";

export type NodeVerb = "drain" | "resume" | "lose";

/** What can be done with a node as it is. */
export function verbsOf(node: Pick<Node, "state" | "connected">): NodeVerb[] {
  switch (nodeFace(node)) {
    case "up":
    case "unknown":
      return ["drain"];
    case "silent":
      return ["drain", "lose"];
    case "draining":
      return node.connected === false ? ["resume", "lose"] : ["resume"];
    case "lost":
    case "left":
      return [];
  }
}
