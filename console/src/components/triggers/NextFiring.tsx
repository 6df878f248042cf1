import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { RelativeTime } from "@/components/ui/Time";
import type { JobTrigger } from "@/lib/api/schema";
import { absolute, millis } from "@/lib/time/format";
import { zoneOf } from "@/lib/time/zone";

/** The next moment in the trigger's own zone, then in the reader's. */
export function NextFiring({ trigger }: { trigger: JobTrigger }) {
  const { t } = useTranslation();
  const zone = useZone();
  const at = millis(trigger.fires_at ?? trigger.next);
  if (at === undefined || trigger.pause) return null;
  const own = zoneOf(trigger);
  return (
    <p>
      {t("triggers.next")} <time dateTime={new Date(at).toISOString()}>{absolute(at, own)}</time>{" "}
      <span className="ms-faint">{own}</span>
      {own !== zone && (
        <>
          {" "}
          · {absolute(at, zone)} <span className="ms-faint">{zone}</span>
        </>
      )}{" "}
      (<RelativeTime at={at} />)
    </p>
  );
}
