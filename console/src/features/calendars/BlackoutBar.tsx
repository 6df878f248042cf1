import { useTranslation } from "react-i18next";
import type { CalendarSpec } from "@/lib/api/schema";
import { blackoutsOf } from "./calendar";

const HOURS = [0, 6, 12, 18, 24];
const MINUTES = 1440;

/** The blackouts of every day on a line of 24 hours. */
export function BlackoutBar({ spec }: { spec: Required<CalendarSpec> }) {
  const { t } = useTranslation();
  const windows = blackoutsOf(spec);
  if (windows.length === 0) return null;
  return (
    <div className="ms-blackout">
      <span>{t("calendars.list.blackouts")}</span>
      <div className="ms-blackout-bar" role="img" aria-label={spec.blackouts.join(", ")}>
        {windows.map(({ from, until }) => (
          <span
            key={`${from}-${until}`}
            style={{ left: `${(100 * from) / MINUTES}%`, width: `${(100 * (until - from)) / MINUTES}%` }}
          />
        ))}
      </div>
      <div className="ms-blackout-axis" aria-hidden>
        {HOURS.map((hour) => (
          <span key={hour}>{String(hour).padStart(2, "0")}:00</span>
        ))}
      </div>
    </div>
  );
}
