import { useTranslation } from "react-i18next";
import type { RunState } from "@/lib/api/schema";
import { NODE_FACES, type NodeFace } from "@/lib/state/node";
import { RUN_STATES } from "@/lib/state/run";
import type { Tone } from "@/lib/state/tone";

type StateBadgeProps = { size?: "md" | "lg" } & (
  | { kind: "run"; state: RunState; cancelling?: boolean | undefined }
  | { kind: "node"; state: NodeFace }
);

/** A state as icon and word on a soft back. */
export function StateBadge(props: StateBadgeProps) {
  const { t } = useTranslation();
  const face = props.kind === "run" ? RUN_STATES[props.state] : NODE_FACES[props.state];
  const cancelling = props.kind === "run" && props.cancelling;
  const word = props.kind === "run" ? t(`state.${props.state}`) : t(`node_state.${props.state}`);
  const Icon = face.icon;
  return (
    <span className="ms-badge" data-size={props.size} style={toneStyle(face.tone)} title={props.state}>
      <Icon
        size={props.size === "lg" ? 18 : 14}
        stroke={2}
        aria-hidden
        data-spins={props.state === "running" || undefined}
      />
      {cancelling ? t("state.cancelling") : word}
    </span>
  );
}

export function toneStyle(tone: Tone) {
  const name = tone.replace("_", "-");
  return { color: `var(--tone-${name}-text)`, background: `var(--tone-${name}-back)` };
}

export const barColour = (tone: Tone) => `var(--tone-${tone.replace("_", "-")}-bar)`;
