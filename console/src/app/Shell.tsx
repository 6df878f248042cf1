import { IconCalendarEvent, IconHistory, IconLayoutDashboard, IconServer } from "@tabler/icons-react";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { KeysHelp } from "./KeysHelp";
import { useKeys } from "./keys";
import { LiveBar } from "./LiveBar";
import { NamespaceSwitcher } from "./NamespaceSwitcher";
import { PersonMenu } from "./PersonMenu";
import { useMay } from "./session";
import { useNamespace } from "./useNamespace";

const PAGES = [
  { to: "/", name: "overview", icon: IconLayoutDashboard, needs: "run.list" },
  { to: "/runs", name: "runs", icon: IconHistory, needs: "run.list" },
  { to: "/jobs", name: "jobs", icon: IconCalendarEvent, needs: "job.list" },
  { to: "/nodes", name: "nodes", icon: IconServer, needs: "node.list" },
] as const;

/** Navigation around every page. What the role cannot open is absent. */
export function Shell() {
  const { t } = useTranslation();
  const mayDo = useMay();
  const ns = useNamespace();
  const { pathname } = useLocation();
  const keys = useKeys();
  const pages = PAGES.filter((page) => mayDo(page.needs));
  const current = [...pages]
    .reverse()
    .find((page) => pathname === page.to || pathname.startsWith(`${page.to}/`));

  useEffect(() => {
    document.title = current ? `${t(`nav.${current.name}`)} · Mainspring` : "Mainspring";
  }, [current, t]);

  return (
    <div className="ms-shell">
      <a className="ms-skip" href="#main">
        {t("nav.skip")}
      </a>
      <header className="ms-top">
        <Link to="/" search={{ ns }} className="ms-brand" aria-label="Mainspring">
          <img src={new URL("icon.svg", document.baseURI).href} alt="" width={22} height={22} />
          <span>Mainspring</span>
        </Link>
        <NamespaceSwitcher />
        <span className="ms-grow" />
        <LiveBar />
        <PersonMenu onKeys={keys.open} />
      </header>
      <nav className="ms-nav" aria-label={t("nav.label")}>
        {pages.map(({ to, name, icon: Icon }) => (
          <Link
            key={to}
            to={to}
            search={{ ns }}
            className="ms-nav-link"
            data-active={current?.to === to || undefined}
          >
            <Icon size={18} stroke={1.7} aria-hidden />
            <span>{t(`nav.${name}`)}</span>
          </Link>
        ))}
      </nav>
      <main id="main" className="ms-main" tabIndex={-1}>
        <Outlet />
      </main>
      <KeysHelp opened={keys.isOpen} onClose={keys.close} />
    </div>
  );
}
