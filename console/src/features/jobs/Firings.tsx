import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { call } from "@/lib/api/client";
import type { JobTrigger } from "@/lib/api/schema";
import { absolute, millis } from "@/lib/time/format";
import { zoneOf } from "./triggers";

const COUNT = 10;

/** The next ten firings in the trigger's zone and in the reader's, with notes where clocks are turned. */
export function Firings({ trigger }: { trigger: JobTrigger }) {
  const { t } = useTranslation();
  const zone = useZone();
  const own = zoneOf(trigger);
  const preview = useQuery({
    queryKey: ["firings", trigger.job, trigger.name, trigger.revision, trigger.next],
    queryFn: ({ signal }) =>
      call("trigger_preview", {
        query: {
          trigger: JSON.stringify(trigger.spec),
          namespace: trigger.namespace,
          job: trigger.job_name,
          count: COUNT,
        },
        signal,
      }),
  });
  if (preview.error) return <ErrorFace error={preview.error} onRetry={() => void preview.refetch()} />;
  return (
    <table className="ms-compare" aria-busy={preview.isPending}>
      <thead>
        <tr>
          <th>{t("jobs.firings_zone", { zone: own })}</th>
          {own !== zone && <th>{t("jobs.firings_zone", { zone })}</th>}
        </tr>
      </thead>
      <tbody>
        {preview.data?.moments.map((moment) => {
          const at = millis(moment.fires_at ?? moment.at) ?? 0;
          return (
            <tr key={moment.at}>
              <td>{absolute(at, own)}</td>
              {own !== zone && <td>{absolute(at, zone)}</td>}
              <td className="ms-muted">{moment.note}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
