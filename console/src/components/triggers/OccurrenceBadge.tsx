import { useTranslation } from "react-i18next";
import { toneStyle } from "@/components/ui/StateBadge";
import { OCCURRENCE_FACES, type OccurrenceFace } from "@/lib/state/occurrence";

/** What became of a moment as icon and word. */
export function OccurrenceBadge({ face }: { face: OccurrenceFace }) {
  const { t } = useTranslation();
  const { tone, icon: Icon } = OCCURRENCE_FACES[face];
  return (
    <span className="ms-badge" style={toneStyle(tone)}>
      <Icon size={14} stroke={2} aria-hidden />
      {t(`occurrence.${face}`)}
    </span>
  );
}
