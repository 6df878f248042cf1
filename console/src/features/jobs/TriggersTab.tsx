import { useTranslation } from "react-i18next";
import { Face } from "@/components/ui/Face";
import type { JobTrigger } from "@/lib/api/schema";
import { TriggerCard } from "./TriggerCard";

export function TriggersTab({ triggers }: { triggers: JobTrigger[] | undefined }) {
  const { t } = useTranslation();
  if (triggers?.length === 0) return <Face kind="empty" title={t("jobs.no_triggers")} />;
  return (
    <div className="ms-triggers">
      {triggers?.map((trigger) => (
        <TriggerCard key={trigger.name} trigger={trigger} />
      ))}
    </div>
  );
}
