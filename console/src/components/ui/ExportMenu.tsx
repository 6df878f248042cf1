import { Button, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { type ExportFields, saveFile, toCsv } from "./exports";

interface ExportMenuProps<T> {
  /** The name of the file. */
  name: string;
  rows: T[];
  fields: ExportFields<T>;
}

/** The loaded rows of a table as a file. */
export function ExportMenu<T>({ name, rows, fields }: ExportMenuProps<T>) {
  const { t } = useTranslation();
  return (
    <Menu position="top-end">
      <Menu.Target>
        <Button variant="subtle" rightSection={<IconChevronDown size={14} />}>
          {t("table.export")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t("table.export_note", { count: rows.length })}</Menu.Label>
        <Menu.Item onClick={() => saveFile(`${name}.csv`, "text/csv", toCsv(rows, fields))}>CSV</Menu.Item>
        <Menu.Item
          onClick={() => saveFile(`${name}.json`, "application/json", JSON.stringify(rows, null, 2))}
        >
          JSON
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
