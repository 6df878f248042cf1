import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { PreferenceControls } from "@/app/PreferenceControls";
import { usePageCommands } from "@/app/pageCommands";
import { signOut, useIdentity } from "@/app/session";
import { RevokeToken } from "@/components/tokens/RevokeToken";
import { tokensKey } from "@/components/tokens/tokens";
import { Confirm } from "@/components/ui/Confirm";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { PageHeader } from "@/components/ui/PageHeader";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { RelativeTime, ZonedTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import type { Token } from "@/lib/api/schema";
import { useList } from "@/lib/api/useList";
import "./me.css";

/** Who is signed in: roles, sessions, preferences. */
export function MePage() {
  const { t } = useTranslation();
  const identity = useIdentity();
  if (!identity) return null;
  return (
    <div className="ms-page ms-me">
      <PageHeader title={identity.subject} note={t("me.note")}>
        <Button onClick={() => void signOut()}>{t("person.sign_out")}</Button>
      </PageHeader>
      <section className="ms-panel">
        <h2>{t("me.roles")}</h2>
        {identity.grants.length === 0 ? (
          <p className="ms-muted">{t("me.no_roles")}</p>
        ) : (
          <ul className="ms-grants">
            {identity.grants.map((grant) => (
              <li key={`${grant.role} ${grant.namespace ?? ""}`}>
                <span className="ms-label">{grant.role}</span>
                <strong>{grant.namespace ?? t("person.everywhere")}</strong>
                <span className="ms-muted">{t(`role.${grant.role}`)}</span>
              </li>
            ))}
          </ul>
        )}
        <p className="ms-muted">
          {t("me.tokens")} <Link to="/admin/tokens">{t("nav.tokens")}</Link>
        </p>
      </section>
      <Sessions own={identity.token} />
      <section className="ms-panel">
        <h2>{t("me.preferences")}</h2>
        <div className="ms-me-preferences">
          <PreferenceControls id="me" />
        </div>
      </section>
    </div>
  );
}

function Sessions({ own }: { own: string }) {
  const { t } = useTranslation();
  const [ending, setEnding] = useState<Token>();
  const [isAll, setAll] = useState(false);
  const { query, rows } = useList("token_list", tokensKey, {}, { limit: 1000 });
  const sessions = rows
    .filter((row) => row.kind === "session")
    .sort((a, b) => Number(b.id === own) - Number(a.id === own) || b.created_at.localeCompare(a.created_at));
  const others = sessions.filter((session) => session.id !== own);
  usePageCommands([
    others.length > 0 && {
      label: t("me.end_others", { count: others.length }),
      alias: "sign out other sessions",
      run: () => setAll(true),
    },
  ]);
  return (
    <section className="ms-panel">
      <h2>{t("me.sessions")}</h2>
      {query.isPending ? (
        <TableSkeleton />
      ) : query.error && rows.length === 0 ? (
        <ErrorFace error={query.error} onRetry={() => void query.refetch()} />
      ) : sessions.length === 0 ? (
        <p className="ms-muted">{t("me.no_sessions")}</p>
      ) : (
        <ul className="ms-sessions">
          {sessions.map((session) => (
            <li key={session.id}>
              <code>{session.id}</code>
              {session.id === own && <span className="ms-label">{t("me.this")}</span>}
              <span className="ms-muted">
                {t("me.since")} <ZonedTime at={session.created_at} />
                {session.expires_at && (
                  <>
                    {" "}
                    · {t("me.ends")} <RelativeTime at={session.expires_at} />
                  </>
                )}
              </span>
              <span className="ms-grow" />
              <Button aria-label={`${t("revoke.session")} ${session.id}`} onClick={() => setEnding(session)}>
                {t("revoke.session")}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <div className="ms-buttons">
          <Button onClick={() => setAll(true)}>{t("me.end_others", { count: others.length })}</Button>
        </div>
      )}
      {ending && <RevokeToken token={ending} onClose={() => setEnding(undefined)} />}
      {isAll && <EndOthers sessions={others} onClose={() => setAll(false)} />}
    </section>
  );
}

/** Ends all other sessions of the person. One that ended by itself meanwhile is as good. */
function EndOthers({ sessions, onClose }: { sessions: Token[]; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: async () => {
      for (const { id } of sessions) await call("token_delete", { path: { token: id } });
    },
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: tokensKey }),
  });
  return (
    <Confirm
      title={t("me.end_others_title", { count: sessions.length })}
      text={t("revoke.session_text")}
      action={t("me.end_others", { count: sessions.length })}
      keep={t("me.keep_others")}
      danger
      busy={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate()}
      onClose={onClose}
    />
  );
}
