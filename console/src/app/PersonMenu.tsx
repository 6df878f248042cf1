import { ActionIcon, Menu } from "@mantine/core";
import { IconBook, IconKeyboard, IconLogout, IconUser, IconUserCircle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { PreferenceControls } from "./PreferenceControls";
import { signOut, useIdentity } from "./session";

/** Who is signed in, the preferences of this browser, and sign-out. */
export function PersonMenu({ onKeys }: { onKeys: () => void }) {
  const { t } = useTranslation();
  const identity = useIdentity();
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
        <PreferenceControls id="menu" />
        <Menu.Divider />
        <Menu.Item component={Link} to="/me" leftSection={<IconUserCircle size={16} />}>
          {t("person.page")}
        </Menu.Item>
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
