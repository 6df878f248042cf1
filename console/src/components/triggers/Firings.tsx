import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { ErrorFace } from "@/components/ui/ErrorFace";
import type { JobTrigger } from "@/lib/api/schema";
import { absolute, millis } from "@/lib/time/format";
import { zoneOf } from "@/lib/time/zone";
import { useComing } from "./useLedger";

/** The next ten firings in the trigger's zone and in the reader's, with notes where clocks are turned. */
export function Firings({ trigger }: { trigger: JobTrigger }) {
  const { t } = useTranslation();
  const zone = useZone();
  const own = zoneOf(trigger);
  const preview = useComing(trigger);
  if (preview.error) return <ErrorFace error={preview.error} onRetry={() => void preview.refetch()} />;
  return (
    <table className="ms-compare ms-firings" aria-busy={preview.isPending}>
      <thead>
        <tr>
          <th>{t("triggers.in_zone", { zone: own })}</th>
          {own !== zone && <th>{t("triggers.in_zone", { zone })}</th>}
        </tr>
      </thead>
      <tbody>
        {preview.data?.moments.map((moment) => {
          const at = millis(moment.fires_at ?? moment.at) ?? 0;
          return (
            <tr key={moment.at}>
              <td>
                {absolute(at, own)}
                {moment.note && <div className="ms-muted">{moment.note}</div>}
              </td>
              {own !== zone && <td>{absolute(at, zone)}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
