import { ActionIcon } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { type ComponentType, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { KeysHelp } from "./KeysHelp";
import { MOD, useKeys } from "./keys";
import { LiveBar } from "./LiveBar";
import { NamespaceSwitcher } from "./NamespaceSwitcher";
import { Navigation } from "./Navigation";
import { NewVersion } from "./NewVersion";
import { pageAt } from "./navigation";
import { PersonMenu } from "./PersonMenu";
import type { PaletteProps } from "./palette/Palette";
import { useLiveQueries } from "./useLiveQueries";
import { useNamespace } from "./useNamespace";

/** Navigation around every page, and what can be opened from everywhere: the palette and the list of keys. */
export function Shell() {
  const { t } = useTranslation();
  const ns = useNamespace();
  useLiveQueries();
  const { pathname } = useLocation();
  const keys = useKeys();
  const current = pageAt(pathname);
  const isWanted = keys.shown === "palette" || keys.shown === "actions";
  const Palette = usePalette(isWanted);

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
        <button type="button" className="ms-search" onClick={() => keys.show("palette")}>
          <IconSearch size={14} aria-hidden />
          <span>{t("palette.open")}</span>
          <kbd>{MOD} K</kbd>
        </button>
        <span className="ms-grow" />
        <LiveBar />
        <ActionIcon
          className="ms-only-phone"
          size={44}
          aria-label={t("palette.open")}
          onClick={() => keys.show("palette")}
        >
          <IconSearch size={18} stroke={1.7} />
        </ActionIcon>
        <PersonMenu onKeys={() => keys.show("help")} />
      </header>
      <Navigation />
      <main id="main" className="ms-main" tabIndex={-1}>
        <NewVersion />
        <Outlet />
      </main>
      <KeysHelp opened={keys.shown === "help"} onClose={keys.close} />
      {Palette && isWanted && (
        <Palette
          onlyActions={keys.shown === "actions"}
          onClose={keys.close}
          onKeys={() => keys.show("help")}
        />
      )}
    </div>
  );
}

const PRELOAD_MS = 2000;

/** The palette, loaded after the page. Without Suspense, which holds back what it shows for 300 ms. */
function usePalette(isWanted: boolean) {
  const [Palette, setPalette] = useState<ComponentType<PaletteProps>>();
  useEffect(() => {
    if (Palette) return;
    const load = () => void import("./palette/Palette").then((module) => setPalette(() => module.Palette));
    if (isWanted) return load();
    // Ahead of the first use, so that no key typed after Ctrl-K is lost; after what the page needs.
    const timer = setTimeout(load, PRELOAD_MS);
    return () => clearTimeout(timer);
  }, [isWanted, Palette]);
  return Palette;
}
