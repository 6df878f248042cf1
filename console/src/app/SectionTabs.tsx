import { Link, useLocation } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { PAGES, pageAt } from "./navigation";
import { useMay } from "./session";
import { useNamespace } from "./useNamespace";

/** Links between the pages of a section, such as Calendar with its calendars and backfills. */
export function SectionTabs() {
  const { t } = useTranslation();
  const mayDo = useMay();
  const ns = useNamespace();
  const current = pageAt(useLocation().pathname);
  const head = current?.within ?? current?.to;
  const pages = PAGES.filter((page) => (page.to === head || page.within === head) && mayDo(page.needs));
  if (pages.length < 2) return null;
  return (
    <nav className="ms-section-tabs" aria-label={t("nav.section")}>
      {pages.map((page) => (
        <Link key={page.to} to={page.to} search={{ ns }} data-active={page === current || undefined}>
          {page.to === head ? t("nav.planned") : t(`nav.${page.name}`)}
        </Link>
      ))}
    </nav>
  );
}
