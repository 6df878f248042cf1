import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { JobZone, usePreferences } from "@/app/preferences";
import { call } from "@/lib/api/client";
import { zoneOf } from "@/lib/time/zone";

interface ZoneOfJobProps {
  namespace: string;
  job: string | null | undefined;
  /** The trigger that counts; without it, the job's first one with a schedule. */
  trigger?: string | null | undefined;
  children: ReactNode;
}

/** Times inside are shown in the job's zone, for who prefers that. Asks the server only then. */
export function ZoneOfJob({ namespace, job, trigger, children }: ZoneOfJobProps) {
  const { zone } = usePreferences();
  const triggers = useQuery({
    queryKey: ["job", namespace, job, "triggers"],
    queryFn: ({ signal }) => call("job_triggers", { path: { job: job ?? "" }, query: { namespace }, signal }),
    enabled: zone === "job" && Boolean(job),
    staleTime: 60_000,
  });
  const items = triggers.data?.items ?? [];
  const found = items.find((each) => each.name === trigger) ?? items.find((each) => "cron" in each.spec);
  return <JobZone value={found && zoneOf(found)}>{children}</JobZone>;
}
