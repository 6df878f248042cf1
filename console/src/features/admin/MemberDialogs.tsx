import { TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { NamespaceField } from "@/components/NamespaceField";
import { RoleField } from "@/components/RoleField";
import { Confirm } from "@/components/ui/Confirm";
import { RelativeTime } from "@/components/ui/Time";
import { ApiError, call } from "@/lib/api/client";
import type { Member, Role } from "@/lib/api/schema";

export const membersKey = ["members"];

const isStale = (error: unknown) => error instanceof ApiError && error.status === 412;

interface MemberDialogProps {
  /** Whose role is changed; without it, somebody gets one. */
  existing?: Member;
  place: string | undefined;
  mayEverywhere: boolean;
  onClose: () => void;
}

/** Gives a role, or changes one. When somebody else was faster, says what is there now. */
export function MemberDialog({ existing, place, mayEverywhere, onClose }: MemberDialogProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [subject, setSubject] = useState(existing?.subject ?? "");
  const [namespace, setNamespace] = useState(place ?? "");
  const [role, setRole] = useState<Role>(existing?.role ?? "viewer");
  const save = useMutation({
    mutationFn: () =>
      call("member_put", {
        path: { subject: subject.trim() },
        query: { namespace: namespace || undefined },
        body: { role },
        ...(existing ? { ifMatch: existing.revision } : { ifNew: true }),
      }),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: membersKey }),
  });
  const where = namespace || t("person.everywhere");
  return (
    <Confirm
      title={
        existing
          ? t("admin.member.change_title", { subject: existing.subject, where })
          : t("admin.member.add")
      }
      action={existing ? t("admin.member.save") : t("admin.member.give", { role })}
      busy={save.isPending}
      error={isStale(save.error) ? undefined : save.error}
      isReady={subject.trim() !== "" && (mayEverywhere || namespace !== "")}
      onConfirm={() => save.mutate()}
      onClose={onClose}
    >
      {!existing && (
        <div className="ms-two">
          <TextInput
            label={t("admin.col.subject")}
            description={t("admin.member.subject_text")}
            value={subject}
            maxLength={128}
            spellCheck={false}
            autoCapitalize="off"
            data-autofocus
            onChange={(event) => setSubject(event.currentTarget.value)}
          />
          <NamespaceField
            label={t("admin.col.namespace")}
            description={mayEverywhere ? t("admin.empty_everywhere") : t("admin.and_below")}
            value={namespace}
            onChange={setNamespace}
          />
        </div>
      )}
      <RoleField value={role} onChange={setRole} />
      {isStale(save.error) && (
        <p className="ms-error" role="alert">
          {existing ? (
            <>
              {t("admin.member.changed", { role: existing.role, by: existing.granted_by })}{" "}
              <RelativeTime at={existing.granted_at} />
            </>
          ) : (
            t("admin.member.taken", { subject, where })
          )}
        </p>
      )}
    </Confirm>
  );
}

export function RemoveMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      call("member_delete", {
        path: { subject: member.subject },
        query: { namespace: member.namespace ?? undefined },
        ifMatch: member.revision,
      }),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: membersKey }),
  });
  const where = member.namespace ?? t("person.everywhere");
  return (
    <Confirm
      title={t("admin.member.remove_title", { subject: member.subject, role: member.role, where })}
      text={t("admin.member.remove_text")}
      action={t("admin.member.remove")}
      keep={t("admin.member.keep")}
      danger
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
