// What is shown of a node: its stored state together with whether it is connected.
import {
  IconDropletHalf,
  IconHelp,
  IconLogout,
  IconPlugConnectedX,
  IconServer,
  IconServerOff,
} from "@tabler/icons-react";
import type { Node } from "@/lib/api/schema";
import type { Tone } from "./tone";

export type NodeFace = "up" | "silent" | "draining" | "lost" | "left" | "unknown";

export const NODE_FACES: Record<NodeFace, { tone: Tone; icon: typeof IconServer; trouble: number }> = {
  lost: { tone: "final_failed", icon: IconServerOff, trouble: 3 },
  silent: { tone: "failed", icon: IconPlugConnectedX, trouble: 2 },
  draining: { tone: "waiting", icon: IconDropletHalf, trouble: 1 },
  unknown: { tone: "unknown", icon: IconHelp, trouble: 1 },
  up: { tone: "success", icon: IconServer, trouble: 0 },
  left: { tone: "skipped", icon: IconLogout, trouble: -1 },
};

export function nodeFace(node: Pick<Node, "state" | "connected">): NodeFace {
  switch (node.state) {
    case "up":
      if (node.connected === undefined || node.connected === null) return "unknown";
      return node.connected ? "up" : "silent";
    case "draining":
    case "lost":
    case "left":
      return node.state;
    default:
      return "unknown";
  }
}
