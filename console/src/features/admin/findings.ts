import type { Finding } from "@/lib/api/schema";

interface Place {
  to: "/runs/$run" | "/runs" | "/nodes" | "/jobs" | "/admin/cluster" | "/admin/audit";
  name: "run" | "runs" | "nodes" | "jobs" | "cluster" | "audit";
  params?: { run: string };
  search?: { q?: string };
}

/** The page where a finding is looked into. */
export function placeOf(finding: Pick<Finding, "check" | "message" | "remedy">): Place | undefined {
  const run = /run_[0-9a-z]{26}/.exec(`${finding.message} ${finding.remedy}`)?.[0];
  if (run) return { to: "/runs/$run", name: "run", params: { run } };
  switch (finding.check) {
    case "nodes": {
      const node = /node_[0-9a-z]{26}/.exec(finding.message)?.[0];
      return { to: "/nodes", name: "nodes", ...(node ? { search: { q: node } } : {}) };
    }
    case "waiting":
      return { to: "/runs", name: "runs", search: { q: "state:waiting" } };
    case "jobs": {
      const job = /job `([^`]+)`/.exec(finding.message)?.[1];
      return { to: "/jobs", name: "jobs", ...(job ? { search: { q: job } } : {}) };
    }
    case "cells":
    case "schedulers":
    case "owners":
    case "clock":
      return { to: "/admin/cluster", name: "cluster" };
    case "audit":
      return { to: "/admin/audit", name: "audit" };
    default:
      return undefined;
  }
}
