// The dry run of a backfill.
import { keepPreviousData, skipToken, useQuery } from "@tanstack/react-query";
import { call } from "@/lib/api/client";
import type { BackfillOrder, BackfillPlan, JobTrigger, Reprocess } from "@/lib/api/schema";

export interface PlanRequest {
  from: string;
  until: string | undefined;
  order: BackfillOrder;
  reprocess: Reprocess;
}

export function usePlan({ namespace, job_name: job, name }: JobTrigger, request: PlanRequest | undefined) {
  return useQuery({
    queryKey: ["backfill-plan", namespace, job, name, request],
    queryFn: request
      ? ({ signal }) =>
          call("backfill_plan", { path: { job, trigger: name }, query: { namespace, ...request }, signal })
      : skipToken,
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
  });
}

/** How many runs it would make. A plan that lists only the first moments knows the most that it can be. */
export function countOf(plan: BackfillPlan): { made: number; left: number; isExact: boolean } {
  const left = plan.moments.filter((moment) => moment.action === "leave").length;
  return { made: plan.total - left, left, isExact: !plan.truncated };
}
