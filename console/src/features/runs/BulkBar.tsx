import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useMay } from "@/app/session";
import type { Run } from "@/lib/api/schema";
import { ACTION_PERMISSION, actionsOf, type RunAction } from "@/lib/state/run";
import type { BulkTarget } from "./BulkDialog";

const ACTIONS: RunAction[] = ["cancel", "retry", "rerun", "prioritise"];

interface BulkBarProps {
  rows: Run[];
  q: string;
  ns: string | undefined;
  onClear: () => void;
  onAct: (target: BulkTarget) => void;
}

/** What can be done with the selected runs, or with all that the query finds. Runs that an action does not fit are left out. */
export function BulkBar({ rows, q, ns, onClear, onAct }: BulkBarProps) {
  const { t } = useTranslation();
  const mayDo = useMay();
  if (rows.length === 0) return null;
  const fitting = (action: RunAction) =>
    rows.filter((run) => actionsOf(run).includes(action) && mayDo(ACTION_PERMISSION[action], run.namespace));
  const allowed = ACTIONS.filter((action) => mayDo(ACTION_PERMISSION[action], ns));
  return (
    <div className="ms-bulk" role="toolbar" aria-label={t("runs.bulk.toolbar")}>
      <span>{t("runs.selected", { count: rows.length })}</span>
      {allowed.map((action) => {
        const ids = fitting(action).map((run) => run.id);
        if (ids.length === 0) return null;
        return (
          <Button key={action} onClick={() => onAct({ action, runs: ids })}>
            {t(`runs.bulk.${action}`, { count: ids.length, exact: "" })}
          </Button>
        );
      })}
      {q && mayDo("run.bulk", ns) && (
        <>
          <span className="ms-muted">{t("runs.bulk.or_all")}</span>
          {allowed.map((action) => (
            <Button key={action} variant="subtle" onClick={() => onAct({ action })}>
              {t(`runs.bulk.title_${action}`)}
            </Button>
          ))}
        </>
      )}
      <span className="ms-grow" />
      <Button variant="subtle" onClick={onClear}>
        {t("runs.clear_selection")}
      </Button>
    </div>
  );
}
