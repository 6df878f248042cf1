import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "@/lib/api/client";
import type { JobTrigger } from "@/lib/api/schema";

/** Reads anew whatever shows this trigger. */
export function useReread({ namespace, job_name: job, name }: JobTrigger) {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["trigger", namespace, job, name] }),
      client.invalidateQueries({ queryKey: ["job", namespace, job] }),
    ]);
}

export function useResume(trigger: JobTrigger) {
  const onSettled = useReread(trigger);
  const { namespace, job_name: job, name } = trigger;
  return useMutation({
    mutationFn: () =>
      call("trigger_resume", { path: { job, trigger: name }, query: { namespace }, body: {} }),
    onSettled,
  });
}
