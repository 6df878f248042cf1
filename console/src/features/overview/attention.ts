// What needs a person's attention, the worst first: one entry with a link for each problem.
import type { Doctor, Finding, JobOccurrence, JobTrigger, Node, SeriesGroup } from "@/lib/api/schema";
import { type NodeFace, nodeFace } from "@/lib/state/node";

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
  | {
      kind: "missed";
      job: string;
      namespace: string;
      trigger: string;
      planned: string;
      reason: string;
      weight: number;
    }
  | { kind: "late"; count: number; weight: number }
  | { kind: "finding"; finding: Finding; weight: number };

const NODE_WEIGHT = { lost: 80, silent: 90, draining: 20 } as const;
const SEVERITY_WEIGHT: Record<string, number> = { failure: 100, warning: 50, note: 10 };

interface Seen {
  groups: SeriesGroup[];
  triggers: JobTrigger[];
  nodes: Node[];
  doctor: Doctor | undefined;
  /** How many moments were fired late today. */
  late: number;
  missed: JobOccurrence[];
}

export function problemsOf({ groups, triggers, nodes, doctor, late, missed }: Seen): Problem[] {
  const problems: Problem[] = [];
  for (const { job_name: name, namespace, points } of groups) {
    const sum = (key: "final_failed" | "success") => points.reduce((all, point) => all + point[key], 0);
    const [failed, success] = [sum("final_failed"), sum("success")];
    if (failed === 0 || !name) continue;
    const weight = 60 + (30 * failed) / (failed + success);
    problems.push({ kind: "job", name, namespace, failed, ended: failed + success, weight });
  }
  for (const { job_name: job, namespace, trigger, planned, reason = "" } of missed)
    problems.push({ kind: "missed", job, namespace, trigger, planned, reason, weight: 65 });
  if (late > 0) problems.push({ kind: "late", count: late, weight: 40 });
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
  for (const finding of doctor?.findings ?? []) {
    problems.push({ kind: "finding", finding, weight: SEVERITY_WEIGHT[finding.severity] ?? 10 });
  }
  return problems.sort((a, b) => b.weight - a.weight);
}
