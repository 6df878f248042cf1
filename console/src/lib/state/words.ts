// Causes and reasons in the reader's language, in the words of the server; only moments are told as the reader wants them.
import type { TFunction } from "i18next";
import type { Cause, Finding, Reason } from "@/lib/api/schema";

/** The cause in a sentence, in the server's words. */
export const causeWords = (cause: Cause, language: string) => inLanguage(cause, language);

/** A message of the server in the reader's language; in English, in sentence case. */
export function inLanguage(said: { message: string; message_zh?: string }, language: string): string {
  return language === "zh" && said.message_zh ? said.message_zh : capital(said.message);
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
  return { message: inLanguage(reason, language), remedy };
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
