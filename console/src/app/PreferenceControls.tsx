import { SegmentedControl } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { localZone } from "@/lib/time/format";
import { CHOICES, type Preferences, setPreferences, usePreferences } from "./preferences";

/** Language, theme, zone and density, kept in this browser. */
export function PreferenceControls({ id }: { id: string }) {
  const { t } = useTranslation();
  const preferences = usePreferences();
  return (Object.keys(CHOICES) as (keyof Preferences)[]).map((key) => (
    <div className="ms-preference" key={key}>
      <span id={`${id}-${key}`}>
        {t(`person.${key}`)}
        {key === "zone" && ` (${localZone()})`}
      </span>
      <SegmentedControl
        aria-labelledby={`${id}-${key}`}
        fullWidth
        data={CHOICES[key].map((value) => ({ value, label: t(`person.${value}`) }))}
        value={preferences[key]}
        onChange={(value) => setPreferences({ [key]: value })}
      />
    </div>
  ));
}
