import { Button, Checkbox, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { COLUMNS, type ColumnId } from "@/components/runs/columns";
import { CopyAs } from "@/components/ui/Copy";
import { PageHeader } from "@/components/ui/PageHeader";
import type { Run } from "@/lib/api/schema";

interface RunsToolbarProps {
  rows: Run[];
  hasMore: boolean;
  columns: ColumnId[];
  onColumns: (columns: ColumnId[]) => void;
  cli: string;
  http: string;
}

export function RunsToolbar({ rows, hasMore, columns, onColumns, cli, http }: RunsToolbarProps) {
  const { t, i18n } = useTranslation();
  const count = new Intl.NumberFormat(i18n.language).format(rows.length);
  const chevron = <IconChevronDown size={14} />;
  return (
    <PageHeader title={t("nav.runs")} note={rows.length > 0 && `${hasMore ? "≥ " : ""}${count}`}>
      <Menu closeOnItemClick={false}>
        <Menu.Target>
          <Button rightSection={chevron} className="ms-hide-phone">
            {t("runs.columns")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {COLUMNS.map((column) => (
            <Menu.Item
              key={column}
              leftSection={
                <Checkbox size="xs" readOnly tabIndex={-1} aria-hidden checked={columns.includes(column)} />
              }
              onClick={() =>
                onColumns(COLUMNS.filter((each) => (each === column) !== columns.includes(each)))
              }
            >
              {t(`runs.col.${column}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <CopyAs
        items={[
          { label: t("runs.copy_cli"), text: cli },
          { label: t("runs.copy_http"), text: http },
        ]}
      />
    </PageHeader>
  );
}
