import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { ErrorFace } from "@/components/ui/ErrorFace";
import type { RunAction } from "@/lib/state/run";
import { type BulkProgress, perform, performEach, preview } from "./bulk";

const TYPED_FROM = 100;

export interface BulkTarget {
  action: RunAction;
  /** Chosen runs; without them, all that the query finds. */
  ids?: string[];
}

interface BulkDialogProps extends BulkTarget {
  q: string;
  ns: string | undefined;
  onClose: () => void;
}

/** Counts first, then acts, and says what became of it. */
export function BulkDialog({ action, ids, q, ns, onClose }: BulkDialogProps) {
  const { t } = useTranslation();
  const [progress, setProgress] = useState<BulkProgress>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const stopped = useRef(false);
  const counted = useQuery({
    queryKey: ["bulk", action, q, ns ?? ""],
    queryFn: ({ signal }) => preview(action, q, ns, signal),
    enabled: !ids,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const count = ids?.length ?? counted.data?.matched;
  const act = async () => {
    if (count === undefined) return;
    setBusy(true);
    setError(undefined);
    try {
      const isStopped = () => stopped.current;
      const over = ids
        ? await performEach(action, ids, setProgress, isStopped)
        : await perform(action, q, ns, count, setProgress, isStopped);
      setProgress(over);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  if (progress) {
    return (
      <Modal
        opened
        onClose={onClose}
        title={t(`runs.bulk.title_${action}`)}
        closeOnClickOutside={progress.isOver}
      >
        <div className="ms-stack">
          <p role="status">{t("runs.bulk.done", { done: progress.done, count: progress.matched })}</p>
          <progress
            className="ms-progress"
            max={progress.matched}
            value={progress.done + progress.failures.length}
          />
          {progress.failures.length > 0 && (
            <ul className="ms-list">
              {progress.failures.slice(0, 20).map((failure) => (
                <li key={failure.id}>
                  <code>{failure.id}</code> {failure.detail}
                </li>
              ))}
            </ul>
          )}
          <div className="ms-buttons">
            {progress.isOver ? (
              <Button onClick={onClose}>{t("action.close")}</Button>
            ) : (
              <Button onClick={() => (stopped.current = true)}>{t("runs.bulk.stop")}</Button>
            )}
          </div>
        </div>
      </Modal>
    );
  }
  if (counted.error) {
    return (
      <Modal opened onClose={onClose} title={t(`runs.bulk.title_${action}`)}>
        <ErrorFace error={counted.error} onRetry={() => void counted.refetch()} />
      </Modal>
    );
  }
  if (count === 0) {
    return (
      <Modal opened onClose={onClose} title={t(`runs.bulk.title_${action}`)}>
        <p>{t("runs.bulk.none")}</p>
      </Modal>
    );
  }
  const isExact = ids !== undefined || counted.data?.exact !== false;
  return (
    <Confirm
      title={t(`runs.bulk.title_${action}`)}
      action={
        count === undefined
          ? t("runs.bulk.counting")
          : t(`runs.bulk.${action}`, { count, exact: isExact ? "" : "≥ " })
      }
      keep={t("runs.bulk.keep")}
      danger={action === "cancel" || action === "kill"}
      typed={count !== undefined && count > TYPED_FROM ? String(count) : undefined}
      busy={busy || count === undefined}
      error={error}
      onConfirm={() => void act()}
      onClose={onClose}
    >
      {ids ? (
        <p>{t("runs.bulk.chosen", { count: ids.length })}</p>
      ) : (
        <>
          <p>
            {t("runs.bulk.all_of")} <code>{q || t("runs.bulk.everything")}</code> {ns && <code>{ns}</code>}
          </p>
          {counted.data && (
            <p className="ms-muted">
              {t("runs.bulk.sample")} {counted.data.sample.map((id) => `…${id.slice(-6)}`).join(", ")}
            </p>
          )}
        </>
      )}
    </Confirm>
  );
}
