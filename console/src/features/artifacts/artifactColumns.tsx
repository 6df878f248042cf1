import { ActionIcon } from "@mantine/core";
import { IconDownload, IconTrash } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { CopyButton } from "@/components/ui/Copy";
import type { Column } from "@/components/ui/DataTable";
import { fieldsNamed } from "@/components/ui/exports";
import { RelativeTime } from "@/components/ui/Time";
import { urlOf } from "@/lib/api/client";
import type { ArtifactInfo } from "@/lib/api/schema";
import { bytes } from "@/lib/size";
import { shortDigest } from "./digest";

export const ARTIFACT_EXPORT = {
  name: "artifacts",
  fields: fieldsNamed<ArtifactInfo>(
    "name",
    "digest",
    "namespace",
    "bytes",
    "content_type",
    "created_at",
    "created_by",
    "expires_at",
  ),
};

export const contentUrl = ({ digest, namespace }: ArtifactInfo) =>
  urlOf("artifact_content", { digest }, { namespace });

export function artifactColumns(
  t: TFunction,
  mayDelete: (artifact: ArtifactInfo) => boolean,
  onDelete: (artifact: ArtifactInfo) => void,
): Column<ArtifactInfo>[] {
  return [
    {
      id: "name",
      label: t("artifacts.col.name"),
      width: "minmax(180px, 2fr)",
      phone: 1,
      cell: (row) => (
        <Link
          to="/artifacts/$digest"
          params={{ digest: row.digest }}
          search={{ ns: row.namespace }}
          title={row.name}
        >
          {row.name || shortDigest(row.digest)}
        </Link>
      ),
    },
    {
      id: "size",
      label: t("artifacts.col.size"),
      width: "88px",
      align: "end",
      phone: 2,
      cell: (row) => <span title={`${row.bytes} B`}>{bytes(row.bytes)}</span>,
    },
    {
      id: "digest",
      label: t("artifacts.col.digest"),
      width: "208px",
      cell: (row) => (
        <span className="ms-id">
          <code title={row.digest}>{shortDigest(row.digest)}</code>
          <CopyButton text={row.digest} label={t("artifacts.copy_digest")} />
        </span>
      ),
    },
    {
      id: "namespace",
      label: t("artifacts.col.namespace"),
      width: "minmax(90px, 1fr)",
      phone: 2,
      cell: (row) => <span title={row.namespace}>{row.namespace}</span>,
    },
    {
      id: "created",
      label: t("artifacts.col.created"),
      width: "112px",
      phone: 2,
      cell: (row) => <RelativeTime at={row.created_at} />,
    },
    {
      id: "by",
      label: t("artifacts.col.by"),
      width: "minmax(80px, 0.8fr)",
      cell: (row) => <span title={row.created_by}>{row.created_by}</span>,
    },
    {
      id: "expires",
      label: t("artifacts.col.expires"),
      width: "112px",
      cell: (row) => (row.expires_at ? <RelativeTime at={row.expires_at} /> : t("artifacts.for_ever")),
    },
    {
      id: "actions",
      label: "",
      width: "64px",
      align: "end",
      phone: "end",
      cell: (row) => (
        <>
          <ActionIcon
            component="a"
            href={contentUrl(row)}
            download={row.name || row.digest}
            size={24}
            aria-label={t("artifacts.download_named", { name: row.name || shortDigest(row.digest) })}
          >
            <IconDownload size={16} />
          </ActionIcon>
          {mayDelete(row) && (
            <ActionIcon
              size={24}
              className="ms-hide-phone"
              aria-label={t("artifacts.delete_named", { name: row.name || shortDigest(row.digest) })}
              onClick={() => onDelete(row)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </>
      ),
    },
  ];
}
