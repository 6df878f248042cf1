import {
  IconBolt,
  IconCalendarCheck,
  IconCalendarOff,
  IconHourglass,
  IconPlayerPause,
} from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { toneStyle } from "@/components/ui/StateBadge";
import type { JobTrigger } from "@/lib/api/schema";
import { TRIGGER_TONES, type TriggerFace, triggerFace } from "./triggers";

const ICONS: Record<TriggerFace, typeof IconBolt> = {
  active: IconCalendarCheck,
  waits: IconHourglass,
  event: IconBolt,
  paused: IconPlayerPause,
  self_paused: IconPlayerPause,
  over: IconCalendarOff,
};

/** The state of a trigger as icon and word. */
export function TriggerBadge({ trigger, size }: { trigger: JobTrigger; size?: "lg" }) {
  const { t } = useTranslation();
  const face = triggerFace(trigger);
  const Icon = ICONS[face];
  return (
    <span className="ms-badge" data-size={size} style={toneStyle(TRIGGER_TONES[face])}>
      <Icon size={size ? 18 : 14} stroke={2} aria-hidden />
      {t(`trigger_state.${face}`)}
    </span>
  );
}
