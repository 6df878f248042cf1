import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { explain } from "@/lib/api/problem";
import { Face } from "./Face";

/** An error in words, with its code and request id, and a button to try again. */
export function ErrorFace({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useTranslation();
  const told = explain(error, t);
  return (
    <Face
      kind={told.isForbidden ? "forbidden" : "error"}
      title={told.title}
      text={told.text}
      note={told.note}
    >
      {onRetry && !told.isForbidden && <Button onClick={onRetry}>{t("action.try_again")}</Button>}
    </Face>
  );
}
