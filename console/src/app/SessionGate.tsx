import { Button, Modal } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Face } from "@/components/ui/Face";
import { SignInForm } from "@/features/sign-in/SignInForm";
import { SignInPage } from "@/features/sign-in/SignInPage";
import { startLive } from "@/lib/live/live";
import { startSession, useSession } from "./session";

/** The pages for who is signed in, the sign-in page for others, and the dialog when a session ends in between. */
export function SessionGate({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  const session = useSession();
  const [failure, setFailure] = useState<unknown>();
  const [tries, setTries] = useState(0);
  const isIn = session.kind === "in" || session.kind === "expired";

  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` asks again.
  useEffect(() => {
    startSession().then(() => setFailure(undefined), setFailure);
  }, [tries]);
  useEffect(() => (isIn ? startLive() : undefined), [isIn]);
  useEffect(() => {
    if (!failure) return;
    const timer = setTimeout(() => setTries((count) => count + 1), 3000);
    return () => clearTimeout(timer);
  }, [failure]);

  if (failure && session.kind === "unknown") {
    return (
      <main className="ms-center">
        <Face kind="error" title={t("face.server_away")} text={t("face.server_away_text")}>
          <Button onClick={() => setTries(tries + 1)}>{t("action.try_now")}</Button>
        </Face>
      </main>
    );
  }
  if (session.kind === "unknown") return null;
  if (session.kind === "out") return <SignInPage failed={session.failed ?? false} />;
  return (
    <>
      {children}
      <Modal
        opened={session.kind === "expired"}
        onClose={() => {}}
        withCloseButton={false}
        closeOnEscape={false}
        title={t("signIn.expired")}
      >
        <p className="ms-muted">{t("signIn.expired_text")}</p>
        <SignInForm />
      </Modal>
    </>
  );
}
