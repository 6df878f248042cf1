import { Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { RelativeTime } from "@/components/ui/Time";
import { ApiError, call } from "@/lib/api/client";
import type { NamespaceInfo } from "@/lib/api/schema";

interface NamespaceDialogProps {
  /** The namespace to describe anew; without it, a new one is made. */
  existing?: NamespaceInfo;
  /** Where a new one begins. */
  parent?: string | undefined;
  onClose: () => void;
}

/** Makes a namespace, or describes one. What is typed stays when somebody else was faster. */
export function NamespaceDialog({ existing, parent, onClose }: NamespaceDialogProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [path, setPath] = useState(existing?.path ?? (parent ? `${parent}/` : ""));
  const [description, setDescription] = useState(existing?.description ?? "");
  const save = useMutation({
    mutationFn: () =>
      call("namespace_put", {
        path: { namespace: path.trim() },
        body: { description },
        // One that only jobs made has no revision of its own yet.
        ...(existing ? (existing.revision > 0 ? { ifMatch: existing.revision } : {}) : { ifNew: true }),
      }),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: ["namespaces"] }),
  });
  const isTaken = save.error instanceof ApiError && save.error.status === 412;
  return (
    <Confirm
      title={existing ? t("admin.ns.describe_title", { path }) : t("admin.ns.new")}
      action={existing ? t("admin.ns.save") : t("admin.ns.create")}
      busy={save.isPending}
      error={isTaken && !existing ? undefined : save.error}
      isReady={path.trim() !== "" && !path.endsWith("/")}
      onConfirm={() => save.mutate()}
      onClose={onClose}
    >
      {!existing && (
        <TextInput
          label={t("admin.ns.path")}
          description={t("admin.ns.path_text")}
          placeholder="acme/data"
          value={path}
          spellCheck={false}
          error={isTaken ? t("admin.ns.taken") : undefined}
          data-autofocus
          onChange={(event) => setPath(event.currentTarget.value)}
        />
      )}
      <Textarea
        label={t("admin.col.description")}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={4096}
        value={description}
        data-autofocus={existing ? true : undefined}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      {isTaken && existing && (
        <p className="ms-note">
          {t("admin.now")} “{existing.description}” · <RelativeTime at={existing.updated_at} />
        </p>
      )}
    </Confirm>
  );
}

interface DeleteNamespaceProps {
  namespace: NamespaceInfo;
  onDone: () => void;
  onClose: () => void;
}

export function DeleteNamespace({ namespace, onDone, onClose }: DeleteNamespaceProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      call("namespace_delete", { path: { namespace: namespace.path }, ifMatch: namespace.revision }),
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: ["namespaces"] }),
  });
  return (
    <Confirm
      title={t("admin.ns.delete_title", { path: namespace.path })}
      text={t("admin.ns.delete_text")}
      action={t("admin.ns.delete")}
      keep={t("admin.ns.keep")}
      danger
      typed={namespace.path}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
