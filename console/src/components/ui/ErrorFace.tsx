import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useIdentity } from "@/app/session";
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
      text={
        <>
          {told.text}
          {told.isForbidden && <AskAdmins />}
        </>
      }
      note={told.note}
    >
      {onRetry && !told.isForbidden && <Button onClick={onRetry}>{t("action.try_again")}</Button>}
    </Face>
  );
}

const NAMED = 5;

/** Who can give a role: those who administer the nearest namespaces first. */
function AskAdmins() {
  const { t, i18n } = useTranslation();
  const admins = useIdentity()?.admins;
  if (!admins || admins.items.length === 0) return null;
  const names = admins.items
    .slice(0, NAMED)
    .map(({ subject, namespace }) => (namespace ? `${subject} (${namespace})` : subject));
  if (admins.partial || admins.items.length > NAMED) names.push(t("face.ask_others"));
  const list = new Intl.ListFormat(i18n.language, { type: "disjunction" }).format(names);
  return <p>{t("face.ask", { names: list })}</p>;
}
