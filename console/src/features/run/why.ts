// Why a run is where it is, in words made from the structured fields, and what would help.
import type { TFunction } from "i18next";
import type { Run, Why, WhyAction } from "@/lib/api/schema";
import { capital, causeWords, reasonWords } from "@/lib/state/words";
import { countdown, duration, millis, shortTime } from "@/lib/time/format";

export interface WhyWords {
  sentence: string;
  remedy: string;
  /** The code, for search. */
  code: string | undefined;
  /** Less common facts that must not be overlooked. */
  notes: string[];
}

/** What the page has no button for elsewhere. */
const OFFERED = ["run.retry", "job.resume", "cell.resume", "node.resume", "job.put", "node.invite"];

/** The actions that help and that the person may do. Cancelling and running again have their buttons above. */
export function actionsOf(run: Run, why: Why | undefined): WhyAction[] {
  // The answer about an earlier state is no offer for this one.
  if (!why || why.state !== run.state) return [];
  return (why.actions ?? []).filter((action) => action.allowed && OFFERED.includes(action.operation));
}

export function whyWords(
  run: Run,
  why: Why | undefined,
  now: number,
  t: TFunction,
  language: string,
  zone: string,
): WhyWords {
  const showTime = (at: string) => shortTime(millis(at) ?? now, now, zone);
  const reason = why?.reason ?? run.reason ?? undefined;
  const cause = run.cause ? inSentence(causeWords(run.cause, language)) : "";
  const words: WhyWords = {
    sentence: "",
    remedy: "",
    code: reason?.kind ?? run.cause?.kind,
    notes: notesOf(run, t),
  };
  switch (run.state) {
    case "ready":
    case "waiting":
      if (reason) {
        const { message, remedy } = reasonWords(reason, t, language, showTime);
        words.sentence =
          reason.kind === "begin_time" && reason.until
            ? t("run.why.starts_in", { wait: countdown((millis(reason.until) ?? now) - now) })
            : message;
        words.remedy = remedy;
      } else words.sentence = why && !why.live ? t("run.why.not_looked") : t("run.why.about_to");
      if (run.attempt > 0 && cause) words.notes.push(t("run.why.before", { n: run.attempt, cause }));
      break;
    case "failed": {
      const until = millis(reason?.until);
      const next = {
        n: reason?.next_attempt ?? run.attempt + 1,
        max: reason?.attempts_max ?? run.attempts_max ?? "?",
      };
      const wait = until === undefined ? undefined : countdown(until - now);
      words.sentence = t("run.why.attempt_failed", { n: run.attempt, cause });
      words.remedy = wait ? t("run.why.next_in", { ...next, wait }) : t("run.why.next", next);
      words.code = run.cause?.kind;
      break;
    }
    case "running":
      words.sentence = run.started_at
        ? t("run.why.running", { node: run.node_name ?? "–" })
        : t("run.why.starting", { node: run.node_name ?? "–" });
      words.code = undefined;
      if (run.cancel_requested_by) words.remedy = t("run.why.cancelling", { by: run.cancel_requested_by });
      break;
    case "success": {
      const started = millis(run.started_at);
      const finished = millis(run.finished_at);
      const created = millis(run.eligible_at ?? run.created_at);
      words.sentence = t("run.why.success", {
        took: started && finished ? duration(finished - started) : "–",
        waited: started && created ? duration(started - created) : "–",
      });
      words.code = undefined;
      break;
    }
    case "final_failed": {
      const isUsedUp =
        run.attempts_max !== undefined && run.attempts_max !== null && run.attempt >= run.attempts_max;
      words.sentence =
        run.attempt > 0 ? t("run.why.attempt_failed", { n: run.attempt, cause }) : capital(cause);
      words.remedy = isUsedUp ? t("run.why.used_up") : t("run.why.no_more");
      break;
    }
    case "cancelled":
    case "skipped":
      words.sentence = capital(cause) || t(`state.${run.state}`);
      break;
  }
  return words;
}

const inSentence = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

function notesOf(run: Run, t: TFunction): string[] {
  const notes: string[] = [];
  if (run.maybe_doubled) notes.push(t("run.why.maybe_doubled"));
  if (run.losses > 0) notes.push(t("run.why.losses", { count: run.losses }));
  return notes;
}
