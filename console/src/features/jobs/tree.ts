// Jobs as a tree of namespaces: plain rows for a table, folded branches left out.
import type { Job, RunState } from "@/lib/api/schema";

export interface Branch {
  kind: "branch";
  path: string;
  /** The last part of the path; of the topmost branches, the whole path. */
  name: string;
  depth: number;
  jobs: number;
  worst: RunState | undefined;
  isOpen: boolean;
}

export interface Leaf {
  kind: "job";
  job: Job;
  depth: number;
}

export type TreeRow = Branch | Leaf;

export const rowId = (row: TreeRow) => (row.kind === "job" ? row.job.id : `ns:${row.path}`);

/** From bad to good: what a folded branch shows. */
const BADNESS: RunState[] = ["final_failed", "running", "waiting", "cancelled", "success", "skipped"];

/** How a job fares in one state: its last end counts, unless something is under way. */
export function stateOf(job: Job): RunState | undefined {
  const last = job.health?.ends[0]?.state;
  if (last === "final_failed") return last;
  if (job.health?.active?.running) return "running";
  if (job.health?.active?.waiting) return "waiting";
  return last;
}

/** The rows of a tree. Jobs come by namespace and name, as the API orders them. */
export function treeRows(jobs: Job[], folded: ReadonlySet<string>): TreeRow[] {
  const branches = new Map<string, Branch>();
  const paths = new Set(jobs.map((job) => job.namespace));
  const parentOf = (path: string) => {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const outer = path.slice(0, at);
      if (paths.has(outer)) return outer;
    }
    return undefined;
  };
  const rows: TreeRow[] = [];
  const branchOf = (path: string): Branch => {
    const known = branches.get(path);
    if (known) return known;
    const parent = parentOf(path);
    const outer = parent === undefined ? undefined : branchOf(parent);
    const branch: Branch = {
      kind: "branch",
      path,
      name: parent === undefined ? path : path.slice(parent.length + 1),
      depth: outer ? outer.depth + 1 : 0,
      jobs: 0,
      worst: undefined,
      isOpen: !folded.has(path),
    };
    branches.set(path, branch);
    if (isShown(parent)) rows.push(branch);
    return branch;
  };
  const isShown = (path: string | undefined): boolean => {
    for (let at = path; at !== undefined; at = parentOf(at)) if (folded.has(at)) return false;
    return true;
  };
  const ordered = [...jobs].sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
  for (const job of ordered) {
    const branch = branchOf(job.namespace);
    if (isShown(job.namespace)) rows.push({ kind: "job", job, depth: branch.depth + 1 });
    for (let at: string | undefined = job.namespace; at !== undefined; at = parentOf(at)) {
      const outer = branchOf(at);
      outer.jobs += 1;
      outer.worst = worse(outer.worst, stateOf(job));
    }
  }
  return rows;
}

/** Paths part by part, so that `a/b` stands below `a` and before `a-b`. */
function compare(a: string, b: string): number {
  const [left, right] = [a.split("/"), b.split("/")];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [one = "", other = ""] = [left[at], right[at]];
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.length - right.length;
}

function worse(a: RunState | undefined, b: RunState | undefined): RunState | undefined {
  const rank = (state: RunState | undefined) => (state ? BADNESS.indexOf(state) : BADNESS.length);
  return rank(b) < rank(a) ? b : a;
}
