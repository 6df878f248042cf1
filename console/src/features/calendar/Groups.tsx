import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { LoadReport } from "@/lib/api/schema";
import { duration } from "@/lib/time/format";

const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);

/** Pools by what is planned for them; each narrows the map to itself. */
export function Groups({ report }: { report: LoadReport }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const pools = useMemo(
    () =>
      report.pools
        .map(({ pool, firings, busy_ms }) => ({ pool, firings: sum(firings), busyMs: sum(busy_ms) }))
        .sort((a, b) => b.firings - a.firings),
    [report],
  );
  const most = Math.max(1, ...pools.map((pool) => pool.firings));
  return (
    <ul className="ms-load-groups">
      {pools.map(({ pool, firings, busyMs }) => (
        <li key={pool}>
          <Link from="/calendar" to="/calendar" search={(before) => ({ ...before, pool, at: undefined })}>
            {pool}
          </Link>
          <span className="ms-grow" />
          <span>{number.format(firings)}</span>
          <span className="ms-load-bar" aria-hidden>
            <span style={{ width: `${Math.max(1, (100 * firings) / most)}%` }} />
          </span>
          {busyMs > 0 && <span className="ms-faint">{t("calendar.busy", { busy: duration(busyMs) })}</span>}
        </li>
      ))}
    </ul>
  );
}
