import { useTranslation } from "react-i18next";
import type { RunEnd } from "@/lib/api/schema";
import { duration } from "@/lib/time/format";
import { barColour } from "./StateBadge";

const WIDTH = 4;
const GAP = 1;
const HEIGHT = 18;
/** How high a bar is, as a part of the strip: shape tells the state without colour. */
const HEIGHTS: Partial<Record<RunEnd["state"], number>> = {
  final_failed: 1,
  success: 0.7,
  cancelled: 0.5,
  skipped: 0.2,
};

interface HealthStripProps {
  /** The newest first, as the API tells them. */
  ends: RunEnd[];
  /** How many bars there is room for: strips of a list stand under each other. */
  room?: number;
  onOpen?: (run: string) => void;
}

/** A bar for each of the newest ends, the newest at the right. */
export function HealthStrip({ ends, room = 30, onOpen }: HealthStripProps) {
  const { t } = useTranslation();
  const count = (state: RunEnd["state"]) => ends.filter((end) => end.state === state).length;
  const label = t("strip.label", {
    success: count("success"),
    failed: count("final_failed"),
    count: ends.length,
  });
  return (
    <svg
      className="ms-strip"
      role="img"
      aria-label={label}
      width={room * (WIDTH + GAP)}
      height={HEIGHT}
      data-opens={onOpen ? true : undefined}
    >
      {ends.slice(0, room).map((end, index) => {
        const height = HEIGHT * (HEIGHTS[end.state] ?? 0.2);
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for pointers; keys open runs from the job's list.
          <rect
            key={end.run}
            x={(room - 1 - index) * (WIDTH + GAP)}
            y={HEIGHT - height}
            width={WIDTH}
            height={height}
            rx={1}
            style={{ fill: barColour(end.state) }}
            onClick={onOpen && (() => onOpen(end.run))}
          >
            <title>
              {[t(`state.${end.state}`), end.took_ms == null ? "" : duration(end.took_ms)]
                .filter(Boolean)
                .join(" · ")}
            </title>
          </rect>
        );
      })}
    </svg>
  );
}
