import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { MomentField } from "@/components/ui/MomentField";
import { call } from "@/lib/api/client";
import type { JobTrigger } from "@/lib/api/schema";
import { absolute, millis } from "@/lib/time/format";
import { zoneOf } from "@/lib/time/zone";
import { useReread } from "./useResume";

interface DialogProps {
  trigger: JobTrigger;
  onClose: () => void;
}

const SHOWN = 5;

/** Has the trigger go on from another moment, and says first what follows. */
export function CursorDialog({ trigger, onClose }: DialogProps) {
  const { t } = useTranslation();
  const zone = zoneOf(trigger);
  const { namespace, job_name: job, name, spec } = trigger;
  const [at, setAt] = useState(millis(trigger.cursor));
  const after = at === undefined ? undefined : new Date(at).toISOString();
  const next = useQuery({
    queryKey: ["firings", namespace, job, name, "after", after],
    queryFn: ({ signal }) =>
      call("trigger_preview", {
        query: { trigger: JSON.stringify(spec), namespace, job, count: SHOWN, after },
        signal,
      }),
    enabled: after !== undefined,
    placeholderData: (before) => before,
  });
  const move = useMutation({
    mutationFn: () =>
      call("trigger_cursor", {
        path: { job, trigger: name },
        query: { namespace },
        body: { cursor: after ?? "" },
        ifMatch: trigger.revision,
      }),
    onSuccess: onClose,
    onSettled: useReread(trigger),
  });
  return (
    <Confirm
      title={t("triggers.cursor_title", { name })}
      text={t("triggers.cursor_text")}
      action={t("triggers.move_cursor")}
      busy={move.isPending || at === undefined}
      error={move.error}
      onConfirm={() => move.mutate()}
      onClose={onClose}
    >
      <MomentField label={t("triggers.cursor_to")} zone={zone} value={at} required onChange={setAt} />
      {next.data && (
        <div className="ms-muted">
          {t("triggers.cursor_next")}
          <ul className="ms-moments">
            {next.data.moments.map((moment) => (
              <li key={moment.at}>
                {absolute(millis(moment.at) ?? 0, zone)} <span className="ms-faint">{zone}</span>
                {(millis(moment.at) ?? 0) <= Date.now() && ` · ${t("triggers.in_the_past")}`}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Confirm>
  );
}
