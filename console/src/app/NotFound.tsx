import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { Face } from "@/components/ui/Face";

export function NotFound() {
  const { t } = useTranslation();
  return (
    <div className="ms-page">
      <Face kind="empty" title={t("face.no_page")}>
        <Link to="/runs">{t("nav.runs")}</Link>
      </Face>
    </div>
  );
}
