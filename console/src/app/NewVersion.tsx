import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useNewVersion } from "./server";

/** Offers a reload when the server has become another version. Nothing is reloaded by itself: somebody may be typing. */
export function NewVersion() {
  const { t } = useTranslation();
  const version = useNewVersion();
  if (!version) return null;
  return (
    <div className="ms-new-version" role="status">
      <span>{t("new_version.text", { version })}</span>
      <Button onClick={() => location.reload()}>{t("new_version.reload")}</Button>
    </div>
  );
}
