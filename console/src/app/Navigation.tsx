import { Drawer } from "@mantine/core";
import { IconBook, IconDots } from "@tabler/icons-react";
import { Link, useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { NAVIGATION, type NavPage, pageAt } from "./navigation";
import { useMay } from "./session";
import { useNamespace } from "./useNamespace";

/** Links to all pages, by group; on a phone the first ones, and a sheet with the rest. What the role cannot open is absent. */
export function Navigation() {
  const { t } = useTranslation();
  const mayDo = useMay();
  const { pathname } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const current = pageAt(pathname);
  const isAt = (page: NavPage) => page === current || page.to === current?.within;
  const groups = NAVIGATION.map(({ group, pages }) => ({
    group,
    pages: pages.filter((page) => mayDo(page.needs) && !page.within),
  })).filter(({ pages }) => pages.length > 0);
  const rest = groups
    .map(({ group, pages }) => ({ group, pages: pages.filter((page) => !page.phone) }))
    .filter(({ pages }) => pages.length > 0);
  const isBehind = current !== undefined && !current.phone;
  return (
    <nav className="ms-nav" aria-label={t("nav.label")}>
      {groups.map(({ group, pages }) => (
        <div className="ms-nav-group" key={group}>
          <span className="ms-nav-title">{t(`nav.group.${group}`)}</span>
          {pages.map((page) => (
            <PageLink key={page.to} page={page} isActive={isAt(page)} />
          ))}
          {group === "admin" && <DocsLink />}
        </div>
      ))}
      {rest.length > 0 && (
        <>
          <button
            type="button"
            className="ms-nav-link ms-nav-more"
            aria-haspopup="dialog"
            data-active={isBehind || undefined}
            onClick={() => setOpen(true)}
          >
            <IconDots size={18} stroke={1.7} aria-hidden />
            <span>{t("nav.more")}</span>
          </button>
          <Drawer
            opened={isOpen}
            onClose={() => setOpen(false)}
            position="bottom"
            size="auto"
            title={t("nav.more")}
            closeButtonProps={{ "aria-label": t("action.close") }}
          >
            {rest.map(({ group, pages }) => (
              <div className="ms-more-group" key={group}>
                <span className="ms-nav-title">{t(`nav.group.${group}`)}</span>
                {pages.map((page) => (
                  <PageLink key={page.to} page={page} isActive={isAt(page)} onGo={() => setOpen(false)} />
                ))}
                {group === "admin" && <DocsLink />}
              </div>
            ))}
          </Drawer>
        </>
      )}
    </nav>
  );
}

function PageLink({ page, isActive, onGo }: { page: NavPage; isActive: boolean; onGo?: () => void }) {
  const { t } = useTranslation();
  const ns = useNamespace();
  const Icon = page.icon;
  return (
    <Link
      to={page.to}
      search={{ ns }}
      className="ms-nav-link"
      title={t(`nav.${page.name}`)}
      data-active={isActive || undefined}
      data-phone={page.phone || undefined}
      onClick={onGo}
    >
      <Icon size={18} stroke={1.7} aria-hidden />
      <span>{t(`nav.${page.name}`)}</span>
    </Link>
  );
}

/** The reference of the API is a page of the server. */
function DocsLink() {
  const { t } = useTranslation();
  return (
    <a className="ms-nav-link" href={new URL("docs", document.baseURI).href} title={t("nav.api")}>
      <IconBook size={18} stroke={1.7} aria-hidden />
      <span>{t("nav.api")}</span>
    </a>
  );
}
