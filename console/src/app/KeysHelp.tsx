import { Modal } from "@mantine/core";
import { Fragment } from "react";
import { useTranslation } from "react-i18next";
import { MOD } from "./keys";
import { PAGES } from "./navigation";
import { useMay } from "./session";

const EVERYWHERE = [
  [`${MOD} K`, "palette"],
  ["/", "query"],
  [".", "actions"],
  ["y", "link"],
  ["?", "help"],
] as const;
const ROWS = [
  ["j k", "row"],
  ["Enter", "open"],
  ["x", "select"],
  ["Esc", "clear"],
] as const;
const RUN = [
  ["[ ]", "attempt"],
  ["f", "follow"],
  ["n N", "match"],
  ["c", "cancel"],
  ["r", "rerun"],
] as const;

/** All keys, by where they work. Each has a button too. */
export function KeysHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const pages = PAGES.filter((page) => page.key && mayDo(page.needs)).map(
    (page) => [`g ${page.key}`, t(`nav.${page.name}`)] as const,
  );
  const words = (
    list: readonly (readonly [string, (typeof EVERYWHERE | typeof ROWS | typeof RUN)[number][1]])[],
  ) => list.map(([keys, name]) => [keys, t(`keys.${name}`)] as const);
  const sections = [
    [t("keys.everywhere"), words(EVERYWHERE)],
    [t("keys.go"), pages],
    [t("keys.in_tables"), words(ROWS)],
    [t("keys.in_run"), words(RUN)],
  ] as const;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size="lg"
      title={t("keys.title")}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <div className="ms-keys">
        {sections.map(([title, rows]) => (
          <section key={title}>
            <h2>{title}</h2>
            <dl>
              {rows.map(([keys, text]) => (
                <Fragment key={keys}>
                  <dt>
                    {keys.split(" ").map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{text}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
