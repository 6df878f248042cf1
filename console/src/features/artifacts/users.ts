/** Who still uses a file, out of the server's refusal to delete it: a job, or a run that is not over. */
export function userOf(detail: string): { kind: "job" | "run"; name: string } | undefined {
  const run = /run_[0-9a-z]{26}/.exec(detail)?.[0];
  if (run) return { kind: "run", name: run };
  const job = /job `([^`]+)`/.exec(detail)?.[1];
  return job ? { kind: "job", name: job } : undefined;
}
