import { useTranslation } from "react-i18next";
import { HeatMap } from "@/components/ui/HeatMap";
import type { HeatRow } from "@/components/ui/heat";
import { duration } from "@/lib/time/format";
import { useNow } from "@/lib/time/now";
import type { DayLoad } from "./load";

const HOUR_MS = 3_600_000;
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));

interface LoadMapProps {
  rows: DayLoad[];
  zone: string;
  chosen: number | undefined;
  onPick: (at: number) => void;
}

/** The heat map of planned firings, a row for each day of the zone. */
export function LoadMap({ rows, zone, chosen, onPick }: LoadMapProps) {
  const { t, i18n } = useTranslation();
  const now = Math.floor(useNow() / 60_000) * 60_000;
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: "short", timeZone: "UTC" });
  const table: HeatRow[] = rows.map((day) => {
    const date = new Date(day.wall).toISOString().slice(0, 10);
    return {
      key: date,
      label: date.slice(5),
      detail: weekday.format(day.wall),
      cells: day.hours.map((hour, place) => ({
        key: hour ? String(hour.at) : `${date} ${HOURS[place]}`,
        value: hour?.firings,
        isFaint: hour !== undefined && hour.at + HOUR_MS <= now,
        label: [
          `${date} ${HOURS[place]}:00`,
          hour && t("calendar.firings", { count: hour.firings, number: String(hour.firings) }),
          hour && hour.busyMs > 0 && t("calendar.busy", { busy: duration(hour.busyMs) }),
        ]
          .filter(Boolean)
          .join(" · "),
      })),
    };
  });
  return (
    <section className="ms-panel" aria-label={t("calendar.map")}>
      <HeatMap
        label={t("calendar.map")}
        columns={HOURS}
        rows={table}
        chosen={chosen === undefined ? undefined : String(chosen)}
        onPick={(key) => onPick(Number(key))}
      />
      <p className="ms-faint ms-load-note">{t("calendar.note", { zone })}</p>
    </section>
  );
}
