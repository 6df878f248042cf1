import { Button, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { usePageCommands } from "@/app/pageCommands";
import { namespaceRoute } from "@/app/router";
import { useMay } from "@/app/session";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { PageHeader } from "@/components/ui/PageHeader";
import { ZonedTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import type { NamespaceInfo } from "@/lib/api/schema";
import { DeleteNamespace, NamespaceDialog } from "./NamespaceDialogs";
import "./admin.css";

/** One namespace: what it is for, who has a role in it, and the ways to what lives there. */
export function NamespacePage() {
  const { t } = useTranslation();
  const { namespace: path } = namespaceRoute.useParams();
  const namespace = useQuery({
    queryKey: ["namespaces", "one", path],
    queryFn: ({ signal }) => call("namespace_get", { path: { namespace: path }, signal }),
  });
  return (
    <div className="ms-page">
      <nav className="ms-crumbs" aria-label={t("run.crumbs")}>
        <Link to="/admin/namespaces">{t("nav.namespaces")}</Link>
        {path.split("/").map((part, index, parts) => {
          const upTo = parts.slice(0, index + 1).join("/");
          return (
            <span key={upTo}>
              <span aria-hidden> / </span>
              {upTo === path ? (
                part
              ) : (
                <Link to="/admin/namespaces/$namespace" params={{ namespace: upTo }}>
                  {part}
                </Link>
              )}
            </span>
          );
        })}
      </nav>
      {namespace.data ? (
        <Loaded namespace={namespace.data} />
      ) : namespace.error ? (
        <ErrorFace error={namespace.error} onRetry={() => void namespace.refetch()} />
      ) : (
        <div className="ms-stack" aria-busy="true">
          <Skeleton height={36} width="50%" />
          <Skeleton height={200} />
        </div>
      )}
    </div>
  );
}

function Loaded({ namespace }: { namespace: NamespaceInfo }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayDo = useMay();
  const [dialog, setDialog] = useState<"describe" | "delete">();
  const { path } = namespace;
  const mayChange = mayDo("namespace.put", path);
  const close = () => setDialog(undefined);
  usePageCommands([
    mayChange && { label: t("admin.ns.describe"), alias: "describe", run: () => setDialog("describe") },
    mayChange && { label: t("admin.ns.delete"), alias: "delete", run: () => setDialog("delete") },
  ]);
  return (
    <>
      <PageHeader title={path}>
        {mayChange && (
          <>
            <Button onClick={() => setDialog("describe")}>{t("admin.ns.describe")}</Button>
            <Button onClick={() => setDialog("delete")}>{t("admin.ns.delete")}</Button>
          </>
        )}
      </PageHeader>
      <section className="ms-panel">
        <h2>{t("admin.ns.about")}</h2>
        <dl className="ms-facts">
          <dt>{t("admin.col.description")}</dt>
          <dd className="ms-plain">{namespace.description || "–"}</dd>
          <dt>{t("admin.col.created")}</dt>
          <dd>
            <ZonedTime at={namespace.created_at} /> · {namespace.created_by}
          </dd>
          <dt>{t("admin.col.updated")}</dt>
          <dd>
            <ZonedTime at={namespace.updated_at} />
          </dd>
        </dl>
      </section>
      <div className="ms-buttons ms-start">
        {mayDo("job.list", path) && (
          <LinkButton to="/jobs" search={{ ns: path }}>
            {t("nav.jobs")}
          </LinkButton>
        )}
        {mayDo("artifact.list", path) && (
          <LinkButton to="/artifacts" search={{ ns: path }}>
            {t("nav.artifacts")}
          </LinkButton>
        )}
        {mayDo("member.list", path) && (
          <LinkButton to="/admin/members" search={{ ns: path }}>
            {t("nav.members")}
          </LinkButton>
        )}
        {mayDo("audit.list", path) && (
          <LinkButton to="/admin/audit" search={{ ns: path }}>
            {t("nav.audit")}
          </LinkButton>
        )}
      </div>
      {dialog === "describe" && <NamespaceDialog existing={namespace} onClose={close} />}
      {dialog === "delete" && (
        <DeleteNamespace
          namespace={namespace}
          onDone={() => void navigate({ to: "/admin/namespaces" })}
          onClose={close}
        />
      )}
    </>
  );
}
