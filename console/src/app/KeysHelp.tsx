import { Modal } from "@mantine/core";
import { useTranslation } from "react-i18next";

const KEYS = [
  ["/", "query"],
  ["g o", "overview"],
  ["g r", "runs"],
  ["g j", "jobs"],
  ["g n", "nodes"],
  ["j k", "row"],
  ["Enter", "open"],
  ["x", "select"],
  ["Esc", "clear"],
  ["[ ]", "attempt"],
  ["f", "follow"],
  ["n N", "match"],
  ["c", "cancel"],
  ["r", "rerun"],
  ["?", "help"],
] as const;

export function KeysHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal opened={opened} onClose={onClose} title={t("keys.title")}>
      <dl className="ms-keys">
        {KEYS.map(([keys, name]) => (
          <div key={name}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(`keys.${name}`)}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
