import { useState } from "react";
import { useTranslation } from "react-i18next";
import { PriorityInput } from "@/components/runs/PriorityInput";
import { Confirm } from "@/components/ui/Confirm";
import type { RunAction } from "@/lib/state/run";
import { BulkCounts } from "./BulkCounts";
import { BulkModal } from "./BulkProgress";
import { start, usePreview } from "./bulk";

const TYPED_FROM = 100;
const STANDARD = (2 << 8) | 50;

export interface BulkTarget {
  action: RunAction;
  /** Chosen runs; without them, all that the query finds. */
  runs?: string[];
}

interface BulkDialogProps extends BulkTarget {
  q: string;
  ns: string | undefined;
  onStarted: (operation: string) => void;
  onClose: () => void;
}

/** Counts by state and namespace first, then starts the operation. */
export function BulkDialog({ action, runs, q, ns, onStarted, onClose }: BulkDialogProps) {
  const { t } = useTranslation();
  const [priority, setPriority] = useState(STANDARD);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const wish = { action, runs, q, namespace: ns, priority: action === "prioritise" ? priority : undefined };
  const preview = usePreview(wish, true);
  const counts = preview.data?.counts;
  if (preview.error || counts?.matched === 0) {
    return (
      <BulkModal
        action={action}
        error={preview.error}
        onRetry={() => void preview.refetch()}
        onClose={onClose}
      >
        <p>{t("runs.bulk.none")}</p>
      </BulkModal>
    );
  }
  const act = async () => {
    if (!counts) return;
    setBusy(true);
    setError(undefined);
    try {
      onStarted(await start(wish, counts.exact ? counts.matched : undefined));
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const count = counts?.matched ?? 0;
  return (
    <Confirm
      title={t(`runs.bulk.title_${action}`)}
      action={
        counts
          ? t(`runs.bulk.${action}`, { count, exact: counts.exact ? "" : "≥ " })
          : t("runs.bulk.counting")
      }
      keep={t("runs.bulk.keep")}
      danger={action === "cancel" || action === "kill"}
      typed={count > TYPED_FROM ? String(count) : undefined}
      busy={busy || !counts}
      error={error}
      onConfirm={() => void act()}
      onClose={onClose}
    >
      {runs ? (
        <p>{t("runs.bulk.chosen", { count: runs.length })}</p>
      ) : (
        <p>
          {t("runs.bulk.all_of")} <code>{q}</code> {ns && <code>{ns}</code>}
        </p>
      )}
      {action === "prioritise" && <PriorityInput value={priority} onChange={setPriority} />}
      {counts && <BulkCounts counts={counts} sample={preview.data?.sample ?? []} />}
    </Confirm>
  );
}
