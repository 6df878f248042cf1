import { useTranslation } from "react-i18next";
import { FaceShape } from "@/components/ui/CadenceMarkShape";
import { barColour } from "@/components/ui/StateBadge";
import { OCCURRENCE_FACES, OCCURRENCE_NAMES, type OccurrenceFace } from "@/lib/state/occurrence";
import { counts, type Moment } from "./ledger";
import "./triggers.css";

interface LegendProps {
  moments: Moment[];
  only: OccurrenceFace | undefined;
  onChoose?: (face: OccurrenceFace | undefined) => void;
}

/** The shapes of the chart in words, with their counts; each is a filter. */
export function Legend({ moments, only, onChoose }: LegendProps) {
  const { t } = useTranslation();
  const found = counts(moments);
  return (
    <fieldset className="ms-legend" aria-label={t("triggers.outcome")}>
      {OCCURRENCE_NAMES.filter((face) => found.has(face) || face === only).map((face) => {
        const { count = 0, isExact = true } = found.get(face) ?? {};
        const content = (
          <>
            <svg width={14} height={14} aria-hidden style={{ color: barColour(OCCURRENCE_FACES[face].tone) }}>
              <FaceShape face={face} x={7} y={7} />
            </svg>
            {t(`occurrence.${face}`)} <span className="ms-faint">{`${isExact ? "" : "≥ "}${count}`}</span>
          </>
        );
        return onChoose ? (
          <button
            key={face}
            type="button"
            className="ms-chip"
            aria-pressed={only === face}
            onClick={() => onChoose(only === face ? undefined : face)}
          >
            {content}
          </button>
        ) : (
          <span key={face} className="ms-chip">
            {content}
          </span>
        );
      })}
    </fieldset>
  );
}
