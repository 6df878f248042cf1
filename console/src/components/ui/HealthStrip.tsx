import { useTranslation } from "react-i18next";
import type { HourCount } from "@/lib/stats";
import { barColour } from "./StateBadge";

const WIDTH = 4;
const GAP = 1;
const HEIGHT = 18;

/** A bar for each hour: full for a failure, lower for successes, a dot for nothing. Shape tells it without colour. */
export function HealthStrip({ hours }: { hours: HourCount[] }) {
  const { t } = useTranslation();
  const total = (key: "success" | "final_failed") => hours.reduce((sum, hour) => sum + hour[key], 0);
  const label = t("strip.label", {
    success: total("success"),
    failed: total("final_failed"),
    count: hours.length,
  });
  return (
    <svg
      className="ms-strip"
      role="img"
      aria-label={label}
      width={hours.length * (WIDTH + GAP)}
      height={HEIGHT}
    >
      <title>{label}</title>
      {hours.map((hour, index) => {
        const tone = hour.final_failed > 0 ? "final_failed" : hour.success > 0 ? "success" : "skipped";
        const height = tone === "final_failed" ? HEIGHT : tone === "success" ? HEIGHT * 0.7 : 2;
        return (
          <rect
            key={hour.hour}
            x={index * (WIDTH + GAP)}
            y={HEIGHT - height}
            width={WIDTH}
            height={height}
            rx={1}
            style={{ fill: barColour(tone) }}
          />
        );
      })}
    </svg>
  );
}
