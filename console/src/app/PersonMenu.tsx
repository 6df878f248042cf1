import { ActionIcon, Menu, SegmentedControl } from "@mantine/core";
import { IconBook, IconKeyboard, IconLogout, IconUser } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { localZone } from "@/lib/time/format";
import { type Preferences, setPreferences, usePreferences } from "./preferences";
import { signOut, useIdentity } from "./session";

/** Who is signed in, the preferences of this browser, and sign-out. */
export function PersonMenu({ onKeys }: { onKeys: () => void }) {
  const { t } = useTranslation();
  const identity = useIdentity();
  const preferences = usePreferences();
  const control = <K extends keyof Preferences>(
    key: K,
    label: string,
    data: { value: Preferences[K]; label: string }[],
  ) => (
    <div className="ms-preference">
      <span id={`preference-${key}`}>{label}</span>
      <SegmentedControl
        aria-labelledby={`preference-${key}`}
        fullWidth
        data={data}
        value={preferences[key]}
        onChange={(value) => setPreferences({ [key]: value })}
      />
    </div>
  );
  return (
    <Menu width={288} closeOnItemClick>
      <Menu.Target>
        <ActionIcon size={32} aria-label={t("person.menu")}>
          <IconUser size={18} stroke={1.7} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {t("person.signed_in_as", { subject: identity?.subject ?? "" })}
          <br />
          {identity?.grants
            .map((grant) => `${grant.role} · ${grant.namespace ?? t("person.everywhere")}`)
            .join(", ")}
        </Menu.Label>
        {control("language", t("person.language"), [
          { value: "en", label: t("person.en") },
          { value: "zh", label: t("person.zh") },
        ])}
        {control("theme", t("person.theme"), [
          { value: "auto", label: t("person.auto") },
          { value: "light", label: t("person.light") },
          { value: "dark", label: t("person.dark") },
        ])}
        {control("zone", `${t("person.zone")} (${localZone()})`, [
          { value: "local", label: t("person.local") },
          { value: "UTC", label: t("person.UTC") },
          { value: "job", label: t("person.job") },
        ])}
        {control("density", t("person.density"), [
          { value: "compact", label: t("person.compact") },
          { value: "comfortable", label: t("person.comfortable") },
        ])}
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={onKeys}>
          {t("keys.title")}
        </Menu.Item>
        <Menu.Item
          component="a"
          href={new URL("docs", document.baseURI).href}
          leftSection={<IconBook size={16} />}
        >
          {t("nav.api")}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {t("person.sign_out")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
