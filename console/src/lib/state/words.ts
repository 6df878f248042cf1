// Causes and reasons in the reader's language. Where the server has its own Chinese text, that is taken; otherwise words are made
// from the structured fields.
import type { TFunction } from "i18next";
import type { Cause, Finding, Reason } from "@/lib/api/schema";

type Translated = { message_zh?: string };

export function causeWords(cause: Cause, t: TFunction, language: string): string {
  const chinese = (cause as Cause & Translated).message_zh;
  if (language === "zh" && chinese) return chinese;
  if (language !== "zh") return capital(cause.message);
  switch (cause.kind) {
    case "exit":
      return t("cause.exit", { code: cause.exit_code ?? "?" });
    case "signal":
      return t("cause.signal", { signal: cause.signal ?? "?" });
    case "timeout":
      return t("cause.timeout", { limit: cause.limit ?? "?" });
    case "error":
      return t("cause.error", { class: cause.class ?? cause.message });
    case "cancelled":
      return t("cause.cancelled", { by: cause.by ?? "?" });
    case "quarantined":
      return t("cause.quarantined", { losses: cause.losses ?? "?" });
    case "oom":
    case "lost":
    case "vanished":
    case "drained":
    case "overlap":
      return t(`cause.${cause.kind}`);
    case "refused":
    case "start_failed":
      return `${t(`cause.${cause.kind}`)}: ${cause.message}`;
    default:
      return cause.message;
  }
}

/** The reason in a sentence, and what would help. Moments are shown as the reader wants them. */
export function reasonWords(
  reason: Reason,
  t: TFunction,
  language: string,
  showTime: (at: string) => string,
): { message: string; remedy: string } {
  const remedy = language === "zh" && reason.remedy_zh ? reason.remedy_zh : capital(reason.remedy);
  const { kind, until } = reason;
  if (until && (kind === "backoff" || kind === "begin_time" || kind === "rate_limit")) {
    const values = {
      n: reason.next_attempt ?? "?",
      max: reason.attempts_max ?? "?",
      limit: reason.limit ?? "?",
    };
    // The server's remedy names the same moment in another form.
    return { message: capital(t(`reason.${kind}`, { ...values, at: showTime(until) })), remedy: "" };
  }
  const message = language === "zh" && reason.message_zh ? reason.message_zh : capital(reason.message);
  return { message, remedy };
}

/** What the doctor found, and what to do about it. */
export function findingWords(finding: Finding, language: string): { message: string; remedy: string } {
  const chinese = finding as Finding & { message_zh?: string; remedy_zh?: string };
  const isChinese = language === "zh";
  return {
    message: (isChinese && chinese.message_zh) || capital(finding.message),
    remedy: (isChinese && chinese.remedy_zh) || capital(finding.remedy),
  };
}

/** Sentence case. What begins with code stays as it is. */
export const capital = (text: string) => (text ? text.charAt(0).toUpperCase() + text.slice(1) : text);
