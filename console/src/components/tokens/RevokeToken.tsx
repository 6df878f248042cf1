import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { signOut, useIdentity } from "@/app/session";
import { Confirm } from "@/components/ui/Confirm";
import { call } from "@/lib/api/client";
import type { Token } from "@/lib/api/schema";
import { tokensKey } from "./tokens";

/** Revokes a token, or ends a session. The one that this page uses ends with a sign-out. */
export function RevokeToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const identity = useIdentity();
  const isOwn = token.id === identity?.token;
  const kind = token.kind === "session" ? "session" : "token";
  const revoke = useMutation({
    mutationFn: async () => {
      if (isOwn) return signOut();
      await call("token_delete", { path: { token: token.id }, ifMatch: token.revision });
    },
    onSuccess: onClose,
    onSettled: () => (isOwn ? undefined : client.invalidateQueries({ queryKey: tokensKey })),
  });
  return (
    <Confirm
      title={t(`revoke.${kind}_title`, { name: token.name || token.id, subject: token.subject })}
      text={isOwn ? t("revoke.own") : t(`revoke.${kind}_text`)}
      action={t(`revoke.${kind}`)}
      keep={t(`revoke.${kind}_keep`)}
      danger
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    />
  );
}
