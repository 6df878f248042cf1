import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { barColour } from "@/components/ui/StateBadge";
import type { Attempt, Run } from "@/lib/api/schema";
import { isEnded } from "@/lib/state/run";
import type { Tone } from "@/lib/state/tone";
import { causeWords } from "@/lib/state/words";
import { clock, duration } from "@/lib/time/format";
import { useNow } from "@/lib/time/now";
import { type Lane, type Part, plan, scaleOf } from "./timeline";

interface TimelineProps {
  run: Run;
  attempts: Attempt[];
  current: number | undefined;
  onPick: (attempt: number) => void;
}

const LANES_MAX = 8;

function tone(part: Part, lane: Lane, run: Run): Tone {
  if (part === "queue" || part === "backoff") return part === "queue" ? "waiting" : "failed";
  if (part === "start") return "ready";
  if (lane.isOpen) return "running";
  const isLast = lane.attempt.number === run.attempt;
  if (isLast && isEnded(run.state)) return run.state;
  return lane.attempt.cause?.exit_code === 0 ? "success" : "final_failed";
}

/** The attempts as bars on one scale of time. The same numbers stand in the tab "Attempts" as a table. */
export function Timeline({ run, attempts, current, onPick }: TimelineProps) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const now = useNow();
  const shown = attempts.slice(-LANES_MAX);
  const planned = plan(run.created_at, shown, isEnded(run.state), now);
  const x = scaleOf(planned);
  const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
  return (
    <section className="ms-panel ms-timeline" aria-label={t("run.timeline.title")}>
      <div className="ms-timeline-axis">
        <span>{clock(planned.begin, zone)}</span>
        <span className="ms-timeline-legend">
          {(["queue", "start", "run", "backoff"] as const).map((part) => (
            <span key={part} data-part={part}>
              {t(`run.timeline.${part}`)}
            </span>
          ))}
        </span>
        <span>
          {clock(planned.end, zone)} <span className="ms-faint">{zone}</span>
        </span>
      </div>
      {attempts.length > LANES_MAX && (
        <p className="ms-faint">{t("run.timeline.folded", { count: attempts.length - LANES_MAX })}</p>
      )}
      {planned.lanes.map((lane) => {
        const spoken = lane.bars
          .map((bar) => `${t(`run.timeline.${bar.part}`)} ${duration(bar.until - bar.from)}`)
          .join(", ");
        const last = lane.bars.at(-1);
        const cause = lane.attempt.cause ? causeWords(lane.attempt.cause, i18n.language) : "";
        return (
          <button
            key={lane.attempt.number}
            type="button"
            className="ms-lane"
            aria-pressed={lane.attempt.number === current}
            title={spoken}
            onClick={() => onPick(lane.attempt.number)}
          >
            <span className="ms-lane-name">{t("run.attempt_n", { n: lane.attempt.number })}</span>
            <span className="ms-lane-node">{lane.attempt.node_name ?? "–"}</span>
            <svg className="ms-lane-bars" role="img" aria-label={spoken}>
              {lane.bars.map((bar) => (
                <rect
                  key={bar.part}
                  x={percent(x(bar.from))}
                  width={percent(Math.max(0.002, x(bar.until) - x(bar.from)))}
                  y={bar.part === "run" ? 3 : 8}
                  height={bar.part === "run" ? 14 : 4}
                  rx={2}
                  style={{ fill: barColour(tone(bar.part, lane, run)) }}
                  data-part={bar.part}
                />
              ))}
              {planned.folds
                .filter((fold) => lane.bars.some((bar) => bar.from === fold.from))
                .map((fold) => (
                  <text
                    key={fold.from}
                    x={percent((x(fold.from) + x(fold.until)) / 2)}
                    y={14}
                    className="ms-lane-fold"
                  >
                    {"//"}
                    <tspan className="ms-lane-fold-time">{` ${duration(fold.until - fold.from)} `}</tspan>
                    {"//"}
                  </text>
                ))}
            </svg>
            <span className="ms-lane-note">
              {last?.part === "run" ? duration(last.until - last.from) : ""}
              {cause && ` · ${cause}`}
            </span>
          </button>
        );
      })}
    </section>
  );
}
