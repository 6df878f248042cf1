import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { Confirm } from "@/components/ui/Confirm";
import { ApiError, call } from "@/lib/api/client";
import type { ArtifactInfo } from "@/lib/api/schema";
import { artifactsKey, shortDigest } from "./digest";
import { Users } from "./Users";
import { userOf } from "./users";

interface DeleteArtifactProps {
  artifact: ArtifactInfo;
  onDone: () => void;
  onClose: () => void;
}

/** Deletes a file that nothing uses; who still uses it is named, with a link. */
export function DeleteArtifact({ artifact, onDone, onClose }: DeleteArtifactProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { digest, namespace, revision } = artifact;
  const remove = useMutation({
    mutationFn: () =>
      call("artifact_delete", { path: { digest }, query: { namespace }, ifMatch: revision ?? 0 }),
    onSuccess: () => {
      onDone();
      return client.invalidateQueries({ queryKey: [...artifactsKey, "list"] });
    },
  });
  const user =
    remove.error instanceof ApiError && remove.error.code === "illegal_state"
      ? userOf(remove.error.detail)
      : undefined;
  return (
    <Confirm
      title={t("artifacts.delete_title", { name: artifact.name || shortDigest(digest) })}
      text={t("artifacts.delete_text", { namespace })}
      action={t("artifacts.delete")}
      keep={t("artifacts.keep")}
      danger
      busy={remove.isPending}
      error={user ? undefined : remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {!user && (
        <p>
          {t("artifacts.users")}: <Users artifact={artifact} />
        </p>
      )}
      {user && (
        <p className="ms-error" role="alert">
          {t(`artifacts.used_by_${user.kind}`)}{" "}
          {user.kind === "job" ? (
            <Link to="/jobs/$job" params={{ job: user.name }} search={{ ns: namespace }}>
              {user.name}
            </Link>
          ) : (
            <Link to="/runs/$run" params={{ run: user.name }} search={{ ns: namespace }}>
              …{user.name.slice(-6)}
            </Link>
          )}
        </p>
      )}
    </Confirm>
  );
}
