import { Button, PasswordInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { signIn } from "@/app/session";
import { ApiError } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";

/** A token, or the code of a login link. */
export function SignInForm() {
  const { t } = useTranslation();
  const [secret, setSecret] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      // A whole link may be pasted, too.
      await signIn(secret.trim().replace(/^.*#login=/, ""));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const refused = error instanceof ApiError && error.status === 401;
  return (
    <form className="ms-stack" onSubmit={submit}>
      <PasswordInput
        label={t("signIn.token")}
        description={t("signIn.token_hint")}
        value={secret}
        autoComplete="current-password"
        data-autofocus
        visibilityToggleButtonProps={{ "aria-label": t("signIn.show") }}
        error={error ? (refused ? t("signIn.refused") : explain(error, t).title) : undefined}
        onChange={(event) => setSecret(event.currentTarget.value)}
      />
      <div className="ms-buttons">
        <Button type="submit" variant="filled" loading={busy} disabled={secret.trim() === ""}>
          {t("signIn.sign_in")}
        </Button>
      </div>
    </form>
  );
}
