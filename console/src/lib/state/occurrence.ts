// What is shown of a planned moment. `late`, `made_up` and `planned` are seen by the console: a firing that came late, a moment
// that a backfill made up for, and one that is still to come.
import {
  IconCalendarEvent,
  IconCalendarX,
  IconCircleCheck,
  IconClockExclamation,
  IconGitMerge,
  IconHistory,
  IconPlayerSkipForward,
} from "@tabler/icons-react";
import type { OccurrenceOutcome } from "@/lib/api/schema";
import type { Tone } from "./tone";

export type OccurrenceFace = OccurrenceOutcome | "late" | "made_up" | "planned";

export const OCCURRENCE_FACES: Record<OccurrenceFace, { tone: Tone; icon: typeof IconCircleCheck }> = {
  fired: { tone: "success", icon: IconCircleCheck },
  late: { tone: "failed", icon: IconClockExclamation },
  merged: { tone: "ready", icon: IconGitMerge },
  skipped: { tone: "skipped", icon: IconPlayerSkipForward },
  missed: { tone: "final_failed", icon: IconCalendarX },
  made_up: { tone: "success", icon: IconHistory },
  planned: { tone: "unknown", icon: IconCalendarEvent },
};

export const OCCURRENCE_NAMES = Object.keys(OCCURRENCE_FACES) as OccurrenceFace[];

/** Beyond its jitter, a firing is late after so long. */
export const LATE_MS = 10_000;
