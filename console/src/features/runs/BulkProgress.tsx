import { Button, Modal } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { call } from "@/lib/api/client";
import type { RunAction } from "@/lib/state/run";
import { useOperation } from "./bulk";

const FAILURES_SHOWN = 20;

interface BulkModalProps {
  action: RunAction;
  error?: unknown;
  onRetry: () => void;
  onClose: () => void;
  children: ReactNode;
}

export function BulkModal({ action, error, onRetry, onClose, children }: BulkModalProps) {
  const { t } = useTranslation();
  return (
    <Modal
      opened
      onClose={onClose}
      title={t(`runs.bulk.title_${action}`)}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      {error ? <ErrorFace error={error} onRetry={onRetry} /> : children}
    </Modal>
  );
}

/** How far an operation is. It goes on when this is closed. */
export function BulkProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data, error, refetch } = useOperation(id);
  const stop = useMutation({
    mutationFn: () => call("bulk_stop", { path: { operation: id } }),
    onSettled: () => client.invalidateQueries({ queryKey: ["bulk", id] }),
  });
  if (!data) {
    return (
      <BulkModal action="cancel" error={error} onRetry={() => void refetch()} onClose={onClose}>
        <p aria-busy>{t("runs.bulk.counting")}</p>
      </BulkModal>
    );
  }
  const looked = data.done + data.failed;
  const isOver = data.state !== "running";
  return (
    <BulkModal action={data.action} error={stop.error} onRetry={() => stop.mutate()} onClose={onClose}>
      <div className="ms-stack">
        <p role="status">
          {t("runs.bulk.done", {
            done: data.done,
            count: data.matched,
            exact: data.exact ? "" : "≥ ",
          })}
          {data.state === "stopped" && ` ${t("runs.bulk.stopped", { by: data.stopped_by })}`}
        </p>
        <progress
          className="ms-progress"
          aria-label={t("runs.bulk.progress")}
          max={Math.max(data.matched, looked, 1)}
          value={isOver ? Math.max(data.matched, looked, 1) : looked}
        />
        {!isOver && <p className="ms-muted">{t("runs.bulk.goes_on")}</p>}
        {(data.failures ?? []).length > 0 && (
          <ul className="ms-list">
            {(data.failures ?? []).slice(0, FAILURES_SHOWN).map((failure) => (
              <li key={failure.id}>
                <code>{failure.id}</code> {failure.detail}
              </li>
            ))}
          </ul>
        )}
        <div className="ms-buttons">
          {!isOver && (
            <Button loading={stop.isPending} onClick={() => stop.mutate()}>
              {t("runs.bulk.stop")}
            </Button>
          )}
          <Button variant="filled" onClick={onClose}>
            {t("action.close")}
          </Button>
        </div>
      </div>
    </BulkModal>
  );
}
