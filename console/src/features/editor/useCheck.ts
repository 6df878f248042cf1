// The draft as the server sees it: validated after each pause in typing, with a dry run of what is good.
import { useEffect, useState } from "react";
import { ApiError, call } from "@/lib/api/client";
import type { FieldProblem, Job } from "@/lib/api/schema";
import { nameIn } from "./yaml";

const PAUSE_MS = 500;

export type Checked =
  | { kind: "checking" }
  | { kind: "good"; job: Job; text: string }
  | { kind: "bad"; error: unknown; fields: FieldProblem[] };

export function useCheck(text: string, ns: string, name: string | undefined, isOn: boolean): Checked {
  const [checked, setChecked] = useState<Checked>({ kind: "checking" });
  useEffect(() => {
    if (!isOn) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const found = await call("job_validate", {
          query: { namespace: ns, job: name },
          yaml: text,
          signal: abort.signal,
        });
        if (!found.valid) {
          setChecked({ kind: "bad", error: undefined, fields: found.problems });
          return;
        }
        const job = await call("job_put", {
          path: { job: name ?? nameIn(text) ?? "unnamed" },
          query: { namespace: ns, dry_run: true },
          yaml: text,
          signal: abort.signal,
        });
        setChecked({ kind: "good", job, text });
      } catch (error) {
        if (abort.signal.aborted) return;
        const fields = error instanceof ApiError ? error.fields : [];
        setChecked({ kind: "bad", error, fields });
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, ns, name, isOn]);
  return checked;
}
