// What needs a person's attention, the worst first: one entry with a link for each problem.
import type { Doctor, JobTrigger, Node } from "@/lib/api/schema";
import { type NodeFace, nodeFace } from "@/lib/state/node";
import type { byJob } from "@/lib/stats";
import { healthOf } from "@/lib/stats";

export type Problem =
  | { kind: "job"; name: string; namespace: string; failed: number; ended: number; weight: number }
  | { kind: "trigger"; job: string; namespace: string; trigger: string; note: string; weight: number }
  | {
      kind: "node";
      name: string;
      face: Exclude<NodeFace, "up" | "left" | "unknown">;
      running: number;
      seen: string | undefined;
      weight: number;
    }
  | { kind: "finding"; message: string; remedy: string; check: string; severity: string; weight: number };

const NODE_WEIGHT = { lost: 80, silent: 90, draining: 20 } as const;
const SEVERITY_WEIGHT: Record<string, number> = { failure: 100, warning: 50, note: 10 };

export function problemsOf(
  stats: ReturnType<typeof byJob>,
  names: Map<string, { name: string; namespace: string }>,
  triggers: JobTrigger[],
  nodes: Node[],
  doctor: Doctor | undefined,
): Problem[] {
  const problems: Problem[] = [];
  for (const [id, rows] of stats) {
    const { failed, success } = healthOf(rows);
    const job = names.get(id);
    if (failed > 0 && job)
      problems.push({
        kind: "job",
        ...job,
        failed,
        ended: failed + success,
        weight: 60 + (30 * failed) / (failed + success),
      });
  }
  for (const trigger of triggers) {
    if (trigger.pause?.by !== "mainspring") continue;
    const { job_name: job, namespace, name, pause } = trigger;
    problems.push({ kind: "trigger", job, namespace, trigger: name, note: pause.note, weight: 70 });
  }
  for (const node of nodes) {
    const face = nodeFace(node);
    if (face !== "lost" && face !== "silent" && face !== "draining") continue;
    problems.push({
      kind: "node",
      name: node.name,
      face,
      running: node.running ?? 0,
      seen: node.seen_at ?? undefined,
      weight: NODE_WEIGHT[face],
    });
  }
  for (const { message, remedy, check, severity } of doctor?.findings ?? []) {
    problems.push({
      kind: "finding",
      message,
      remedy,
      check,
      severity,
      weight: SEVERITY_WEIGHT[severity] ?? 10,
    });
  }
  return problems.sort((a, b) => b.weight - a.weight);
}
