import { ActionIcon, Button, SegmentedControl } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";

const SPANS = [7, 14, 31] as const;

interface SpanBarProps {
  days: number;
  isNow: boolean;
  onDays: (days: number) => void;
  /** So many spans later or earlier; 0 is now. */
  onMove: (steps: number) => void;
}

/** How many days, and which ones. */
export function SpanBar({ days, isNow, onDays, onMove }: SpanBarProps) {
  const { t } = useTranslation();
  return (
    <div className="ms-span">
      <ActionIcon size={30} aria-label={t("calendar.earlier")} onClick={() => onMove(-1)}>
        <IconChevronLeft size={18} />
      </ActionIcon>
      {!isNow && <Button onClick={() => onMove(0)}>{t("calendar.today")}</Button>}
      <SegmentedControl
        aria-label={t("calendar.days")}
        value={String(days)}
        data={SPANS.map((each) => ({ value: String(each), label: t("calendar.span", { count: each }) }))}
        onChange={(next) => onDays(Number(next))}
      />
      <ActionIcon size={30} aria-label={t("calendar.later")} onClick={() => onMove(1)}>
        <IconChevronRight size={18} />
      </ActionIcon>
    </div>
  );
}
