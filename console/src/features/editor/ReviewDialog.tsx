import { TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { DiffView } from "@/components/ui/DiffView";
import type { Job } from "@/lib/api/schema";

interface ReviewDialogProps {
  checked: Job;
  isNew: boolean;
  busy: boolean;
  onSave: (note: string) => void;
  onClose: () => void;
}

/** What saving would change, as the server says, before it is done. */
export function ReviewDialog({ checked, isNew, busy, onSave, onClose }: ReviewDialogProps) {
  const { t } = useTranslation();
  const [note, setNote] = useState("");
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
      onConfirm={() => onSave(note)}
      onClose={onClose}
    >
      <TextInput
        label={t("editor.note")}
        description={t("editor.note_hint")}
        maxLength={1000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {!isNew && <DiffView changes={checked.changes ?? []} none={t("editor.no_changes")} />}
    </Confirm>
  );
}
