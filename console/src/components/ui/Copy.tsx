import { ActionIcon, Button, Menu, Tooltip } from "@mantine/core";
import { IconCheck, IconChevronDown, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { copyText } from "@/lib/clipboard";

function useCopied() {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied, (text: string) => void copyText(text).then(setCopied)] as const;
}

/** A button that copies a text. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation();
  const [copied, copy] = useCopied();
  return (
    <Tooltip label={copied ? t("action.copied") : label}>
      <ActionIcon size={22} aria-label={label} onClick={() => copy(text)}>
        {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** An id: shortened to its end, copied whole. */
export function Id({ value }: { value: string }) {
  const { t } = useTranslation();
  return (
    <span className="ms-id">
      <code title={value}>…{value.slice(-6)}</code>
      <CopyButton text={value} label={t("action.copy_id")} />
    </span>
  );
}

/** The same action as a command line and as an API call. */
export function CopyAs({ items }: { items: { label: string; text: string }[] }) {
  const { t } = useTranslation();
  const [copied, copy] = useCopied();
  return (
    <Menu width={340}>
      <Menu.Target>
        <Button rightSection={<IconChevronDown size={14} />}>
          {copied ? t("action.copied") : t("action.copy_as")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map((item) => (
          <Menu.Item key={item.label} onClick={() => copy(item.text)}>
            {item.label}
            <span className="ms-menu-code">{item.text}</span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
