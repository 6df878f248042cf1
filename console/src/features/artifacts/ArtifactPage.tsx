import { Button, Skeleton } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { artifactRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";
import { CodeCopy } from "@/components/ui/CodeCopy";
import { CopyAs, CopyButton } from "@/components/ui/Copy";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { PageHeader } from "@/components/ui/PageHeader";
import { RelativeTime, ZonedTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import type { ArtifactInfo } from "@/lib/api/schema";
import { apiCommand, cli } from "@/lib/commands";
import { bytes } from "@/lib/size";
import { contentUrl } from "./artifactColumns";
import { DeleteArtifact } from "./DeleteArtifact";
import { artifactsKey, shortDigest } from "./digest";
import { Users } from "./Users";
import "./artifacts.css";

/** What is known of a file, and how a job names it. */
export function ArtifactPage() {
  const { t } = useTranslation();
  const { digest } = artifactRoute.useParams();
  const namespace = useNamespace() ?? "default";
  const artifact = useQuery({
    queryKey: [...artifactsKey, digest, namespace],
    queryFn: ({ signal }) => call("artifact_get", { path: { digest }, query: { namespace }, signal }),
  });
  return (
    <div className="ms-page">
      <nav className="ms-crumbs" aria-label={t("run.crumbs")}>
        <Link to="/artifacts" search={{ ns: namespace }}>
          {t("nav.artifacts")}
        </Link>
        <span aria-hidden> / </span>
        <span>{shortDigest(digest)}</span>
      </nav>
      {artifact.data ? (
        <Loaded artifact={artifact.data} />
      ) : artifact.error ? (
        <ErrorFace error={artifact.error} onRetry={() => void artifact.refetch()} />
      ) : (
        <div className="ms-stack" aria-busy="true">
          <Skeleton height={36} width="50%" />
          <Skeleton height={240} />
        </div>
      )}
    </div>
  );
}

function Loaded({ artifact }: { artifact: ArtifactInfo }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const mayDo = useMay();
  const [isRemoving, setRemoving] = useState(false);
  const { digest, namespace } = artifact;
  const name = artifact.name || shortDigest(digest);
  const mayDelete = mayDo("artifact.delete", namespace);
  const yaml = `artifacts:\n  - digest: ${digest}\n    path: ${JSON.stringify(artifact.name || "file")}\n`;
  const where = namespace === "default" ? [] : ["-n", namespace];
  usePageCommands([
    {
      label: t("artifacts.download"),
      alias: "download",
      run: () => location.assign(contentUrl(artifact)),
    },
    mayDelete && { label: t("artifacts.delete"), alias: "delete", run: () => setRemoving(true) },
  ]);
  return (
    <>
      <PageHeader title={name} note={`${bytes(artifact.bytes)} · ${namespace}`}>
        <Button
          component="a"
          variant="filled"
          href={contentUrl(artifact)}
          download={artifact.name || digest}
          leftSection={<IconDownload size={14} />}
        >
          {t("artifacts.download")}
        </Button>
        {mayDelete && <Button onClick={() => setRemoving(true)}>{t("artifacts.delete")}</Button>}
        <CopyAs
          items={[
            { label: t("runs.copy_cli"), text: cli("artifact", "get", ...where, digest) },
            { label: t("runs.copy_http"), text: apiCommand("artifact_content", { digest }, { namespace }) },
          ]}
        />
      </PageHeader>
      <section className="ms-panel">
        <h2>{t("artifacts.facts")}</h2>
        <dl className="ms-facts">
          <dt>{t("artifacts.col.digest")}</dt>
          <dd className="ms-digest">
            <code>{digest}</code>
            <CopyButton text={digest} label={t("artifacts.copy_digest")} />
          </dd>
          <dt>{t("artifacts.col.size")}</dt>
          <dd>
            {bytes(artifact.bytes)}{" "}
            {artifact.bytes >= 1024 && (
              <span className="ms-faint">
                {new Intl.NumberFormat(i18n.language).format(artifact.bytes)} B
              </span>
            )}
          </dd>
          <dt>{t("artifacts.col.type")}</dt>
          <dd>{artifact.content_type ?? "–"}</dd>
          <dt>{t("artifacts.users")}</dt>
          <dd>
            <Users artifact={artifact} />
          </dd>
          <dt>{t("artifacts.col.namespace")}</dt>
          <dd>{namespace}</dd>
          <dt>{t("artifacts.col.created")}</dt>
          <dd>
            <ZonedTime at={artifact.created_at} /> · {artifact.created_by}
          </dd>
          <dt>{t("artifacts.col.expires")}</dt>
          <dd>
            {artifact.expires_at ? (
              <>
                <ZonedTime at={artifact.expires_at} /> · <RelativeTime at={artifact.expires_at} />
              </>
            ) : (
              t("artifacts.for_ever")
            )}
            <p className="ms-muted">{t("artifacts.kept_longer")}</p>
          </dd>
        </dl>
      </section>
      <section className="ms-panel">
        <h2>{t("artifacts.use")}</h2>
        <CodeCopy text={yaml} label={t("artifacts.copy_yaml")} />
      </section>
      {isRemoving && (
        <DeleteArtifact
          artifact={artifact}
          onDone={() => void navigate({ to: "/artifacts", search: { ns: namespace } })}
          onClose={() => setRemoving(false)}
        />
      )}
    </>
  );
}
