import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { DiffView } from "@/components/ui/DiffView";
import type { Job } from "@/lib/api/schema";

interface ReviewDialogProps {
  checked: Job;
  isNew: boolean;
  busy: boolean;
  onSave: () => void;
  onClose: () => void;
}

/** What saving would change, as the server says, before it is done. */
export function ReviewDialog({ checked, isNew, busy, onSave, onClose }: ReviewDialogProps) {
  const { t } = useTranslation();
  return (
    <Confirm
      title={
        isNew
          ? t("editor.create_title", { name: checked.name })
          : t("editor.save_title", { name: checked.name })
      }
      text={isNew ? t("editor.create_text", { ns: checked.namespace }) : t("editor.save_text")}
      action={isNew ? t("editor.create") : t("editor.save")}
      keep={t("editor.back")}
      busy={busy}
      onConfirm={onSave}
      onClose={onClose}
    >
      {!isNew && <DiffView changes={checked.changes ?? []} none={t("editor.no_changes")} />}
    </Confirm>
  );
}
