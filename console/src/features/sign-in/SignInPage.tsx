import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { setPreferences, usePreferences } from "@/app/preferences";
import { SignInForm } from "./SignInForm";
import "./sign-in.css";

export function SignInPage({ failed }: { failed: boolean }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <main className="ms-center">
      <div className="ms-sign-in ms-panel">
        <h1>Mainspring</h1>
        {failed ? (
          <p className="ms-error" role="alert">
            {t("signIn.link_failed")}
          </p>
        ) : (
          <p className="ms-muted">{t("signIn.hint")}</p>
        )}
        <SignInForm />
        <div className="ms-sign-in-foot">
          <a href={new URL("docs", document.baseURI).href}>{t("nav.api")}</a>
          <Button
            variant="subtle"
            onClick={() => setPreferences({ language: language === "zh" ? "en" : "zh" })}
          >
            {language === "zh" ? "English" : "中文"}
          </Button>
        </div>
      </div>
    </main>
  );
}
