import { ActionIcon } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { CalendarSpec } from "@/lib/api/schema";
import { BlackoutBar } from "./BlackoutBar";
import { type DayKind, daysOf, monthsOf, nameOf, WEEKDAYS } from "./calendar";

interface YearPictureProps {
  spec: Required<CalendarSpec>;
  /** Absent where nothing may be changed. */
  onToggle: ((day: number) => void) | undefined;
}

const KINDS: Exclude<DayKind, "work">[] = ["weekend", "off", "yearly", "extra"];

/** A year of days: what is left out is filled. A click on a day changes it. */
export function YearPicture({ spec, onToggle }: YearPictureProps) {
  const { t, i18n } = useTranslation();
  const [year, setYear] = useState(() => new Date().getFullYear());
  const kindOf = useMemo(() => daysOf(spec), [spec]);
  const months = useMemo(() => monthsOf(year), [year]);
  const today = nameOf(Date.now());
  const monthName = new Intl.DateTimeFormat(i18n.language, { month: "long", timeZone: "UTC" });
  const off = months
    .flat()
    .filter((day) => day !== undefined && !["work", "extra"].includes(kindOf(day))).length;
  return (
    <section className="ms-panel" aria-label={t("calendars.picture")}>
      <div className="ms-year-head">
        <ActionIcon size={30} aria-label={t("calendars.year_before")} onClick={() => setYear(year - 1)}>
          <IconChevronLeft size={18} />
        </ActionIcon>
        <strong>{year}</strong>
        <ActionIcon size={30} aria-label={t("calendars.year_after")} onClick={() => setYear(year + 1)}>
          <IconChevronRight size={18} />
        </ActionIcon>
        <span className="ms-muted">{t("calendars.days_off", { count: off })}</span>
      </div>
      <div className="ms-year">
        {months.map((days, month) => (
          <div key={monthName.format(Date.UTC(year, month, 1))} className="ms-month">
            <h3>{monthName.format(Date.UTC(year, month, 1))}</h3>
            <div className="ms-days">
              {WEEKDAYS.map((weekday) => (
                <span key={weekday} className="ms-day-name" aria-hidden>
                  {t(`calendars.weekday.${weekday}`)
                    .slice(0, i18n.language === "zh" ? 2 : 1)
                    .replace("周", "")}
                </span>
              ))}
              {days.map((day, place) => {
                if (day === undefined) return <span key={`before ${WEEKDAYS[place]}`} />;
                const kind = kindOf(day);
                const name = nameOf(day);
                const number = Number(name.slice(8));
                const label = `${name} ${t(`calendars.kind.${kind}`)}`;
                const shared = {
                  className: "ms-day",
                  "data-kind": kind,
                  "data-today": name === today || undefined,
                  title: label,
                };
                return onToggle ? (
                  <button
                    key={day}
                    type="button"
                    {...shared}
                    aria-label={`${number}: ${label}`}
                    onClick={() => onToggle(day)}
                  >
                    {number}
                  </button>
                ) : (
                  <span key={day} {...shared}>
                    {number}
                  </span>
                );
              })}
            </div>
          </div>
        ))}
      </div>
      <div className="ms-year-legend">
        {KINDS.map((kind) => (
          <span key={kind}>
            <span className="ms-day" data-kind={kind} aria-hidden />
            {t(`calendars.kind.${kind}`)}
          </span>
        ))}
        {onToggle && <span className="ms-faint">{t("calendars.click_day")}</span>}
      </div>
      <BlackoutBar spec={spec} />
    </section>
  );
}
