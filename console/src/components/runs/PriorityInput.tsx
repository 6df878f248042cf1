import { NumberInput, Select } from "@mantine/core";
import { useTranslation } from "react-i18next";

/** The classes of a priority, least urgent first: their places are the upper byte of the number that the API takes. */
const CLASSES = ["spare", "deferrable", "standard", "service"] as const;
const LEVEL_MAX = 100;

/** The priority as requests take it. */
export const priorityOf = (value: number) => ({
  class: CLASSES[Math.min(value >> 8, CLASSES.length - 1)] ?? "standard",
  level: value & 0xff,
});

/** Class and level of a priority as one number. */
export function PriorityInput({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  const { t } = useTranslation();
  const level = value & 0xff;
  const at = Math.min(value >> 8, CLASSES.length - 1);
  return (
    <div className="ms-fields">
      <Select
        label={t("run.priority.class")}
        data={CLASSES.map((name, index) => ({ value: String(index), label: t(`run.priority.${name}`) }))}
        value={String(at)}
        allowDeselect={false}
        onChange={(next) => next !== null && onChange((Number(next) << 8) | level)}
      />
      <NumberInput
        label={t("run.priority.level")}
        min={0}
        max={LEVEL_MAX}
        value={level}
        onChange={(next) => onChange((at << 8) | Math.min(Math.max(Number(next) || 0, 0), LEVEL_MAX))}
      />
    </div>
  );
}
