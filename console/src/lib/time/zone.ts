import type { JobTrigger } from "@/lib/api/schema";

/** The zone that a trigger counts in. */
export const zoneOf = (trigger: Pick<JobTrigger, "spec">): string =>
  "zone" in trigger.spec && typeof trigger.spec.zone === "string" && trigger.spec.zone
    ? trigger.spec.zone
    : "UTC";
