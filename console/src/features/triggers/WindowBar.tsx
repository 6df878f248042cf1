import { ActionIcon, SegmentedControl, Tooltip } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { Range } from "@/components/ui/CadenceChart";

const WINDOWS = ["newest", "24h", "7d", "30d"] as const;

interface WindowBarProps {
  search: { from?: string | undefined; until?: string | undefined };
  span: Range;
  onChange: (from: string | undefined, until: string | undefined) => void;
}

/** Which stretch of time is shown: the newest, a span before now, or the one before and after it. */
export function WindowBar({ search, span, onChange }: WindowBarProps) {
  const { t } = useTranslation();
  const value =
    !search.from && !search.until
      ? "newest"
      : (WINDOWS.find((each) => search.from === `-${each}` && !search.until) ?? "");
  const size = span.until - span.from;
  const iso = (at: number) => new Date(at).toISOString();
  return (
    <div className="ms-window">
      <Tooltip label={t("triggers.window.earlier")}>
        <ActionIcon
          size={30}
          aria-label={t("triggers.window.earlier")}
          onClick={() => onChange(iso(span.from - size), iso(span.from))}
        >
          <IconChevronLeft size={18} />
        </ActionIcon>
      </Tooltip>
      <SegmentedControl
        aria-label={t("triggers.window.label")}
        value={value}
        data={WINDOWS.map((each) => ({ value: each, label: t(`triggers.window.${each}`) }))}
        onChange={(next) => onChange(next === "newest" ? undefined : `-${next}`, undefined)}
      />
      <Tooltip label={t("triggers.window.later")}>
        <ActionIcon
          size={30}
          aria-label={t("triggers.window.later")}
          disabled={!search.until}
          onClick={() => onChange(iso(span.until), iso(span.until + size))}
        >
          <IconChevronRight size={18} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
