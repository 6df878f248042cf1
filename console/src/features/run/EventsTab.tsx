import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import type { TimelineEntry } from "@/lib/api/schema";
import { causeWords, inLanguage } from "@/lib/state/words";
import { clock, millis } from "@/lib/time/format";

export function EventsTab({ entries }: { entries: TimelineEntry[] }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  return (
    <div className="ms-scroll-x">
      <table className="ms-plain">
        <thead>
          <tr>
            <th>
              {t("run.col.at")} <span className="ms-faint">{zone}</span>
            </th>
            <th>{t("run.col.what")}</th>
            <th>{t("run.col.attempt")}</th>
            <th>{t("run.col.by")}</th>
            <th>{t("run.col.cause")}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: entries are only ever added at the end.
            <tr key={index} title={inLanguage(entry, i18n.language)}>
              <td className="ms-mono">{clock(millis(entry.at) ?? 0, zone, true)}</td>
              <td>{t(`run.event.${entry.kind}`)}</td>
              <td>{entry.attempt ?? "–"}</td>
              <td>{entry.by ?? "–"}</td>
              <td>{entry.cause ? causeWords(entry.cause, i18n.language) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
