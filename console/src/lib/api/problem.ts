// Errors in words: what happened, why, what to do. The code and the request id stand beside them, for search and support.
import i18next, { type TFunction } from "i18next";
import { ApiError, NetworkError } from "./client";

export interface Told {
  title: string;
  text: string;
  note: string | undefined;
  isForbidden: boolean;
}

const KNOWN = [
  "conflict",
  "forbidden",
  "illegal_state",
  "internal",
  "invalid_parameter",
  "invalid_query",
  "invalid_request",
  "not_found",
  "not_owner",
  "precondition_failed",
  "queue_full",
  "rate_limited",
  "store_unavailable",
  "unauthenticated",
] as const;

export function explain(error: unknown, t: TFunction): Told {
  if (error instanceof NetworkError) {
    return {
      title: t("face.server_away"),
      text: t("face.server_away_text"),
      note: undefined,
      isForbidden: false,
    };
  }
  if (!(error instanceof ApiError)) {
    return { title: t("problem.unknown"), text: String(error), note: undefined, isForbidden: false };
  }
  const code = KNOWN.find((known) => known === error.code);
  const fields = error.fields.map((field) => `${field.path}: ${field.message}`).join("; ");
  return {
    title: code ? t(`problem.${code}`) : titleOf(error, t),
    text: [error.detail, fields].filter(Boolean).join(" · "),
    note: [error.code, error.requestId].filter(Boolean).join(" · "),
    isForbidden: error.code === "forbidden",
  };
}

/** What the server says the code means; something in front of it says nothing in Chinese. */
function titleOf({ title }: ApiError, t: TFunction): string {
  return (i18next.language === "zh" ? title.zh : title.en) || t("problem.unknown");
}
