import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { call } from "@/lib/api/client";
import type { Calendar } from "@/lib/api/schema";

interface DeleteDialogProps {
  calendar: Calendar;
  onClose: () => void;
}

/** Removes a calendar that no trigger heeds. */
export function DeleteDialog({ calendar, onClose }: DeleteDialogProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { name, namespace, revision } = calendar;
  const remove = useMutation({
    mutationFn: () =>
      call("calendar_delete", { path: { calendar: name }, query: { namespace }, ifMatch: revision }),
    onSuccess: async () => {
      await navigate({ to: "/calendars", search: { ns: namespace } });
      client.removeQueries({ queryKey: ["calendar", namespace, name] });
      await client.invalidateQueries({ queryKey: ["calendars"] });
    },
  });
  return (
    <Confirm
      title={t("calendars.delete_title", { name })}
      text={t("calendars.delete_text")}
      action={t("calendars.delete")}
      keep={t("calendars.keep")}
      danger
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
