// Two languages, each one lazy chunk. Keys are typed by the English words; a check fails on missing and unused keys.
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import type en from "./en";

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "translation";
    resources: { translation: typeof en };
    returnNull: false;
  }
}

export type Language = "en" | "zh";

const load = async (language: Language) =>
  language === "zh" ? (await import("./zh")).default : (await import("./en")).default;

export async function startWords(language: Language) {
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    resources: { [language]: { translation: await load(language) } },
    interpolation: { escapeValue: false },
    showSupportNotice: false,
  } as Parameters<typeof i18next.init>[0]);
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}

export async function changeWords(language: Language) {
  if (!i18next.hasResourceBundle(language, "translation")) {
    i18next.addResourceBundle(language, "translation", await load(language));
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}
