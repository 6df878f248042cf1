import { Button, Checkbox, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { COLUMNS, type ColumnId } from "@/components/runs/columns";
import { CopyAs } from "@/components/ui/Copy";
import { PageHeader } from "@/components/ui/PageHeader";
import { RunsCount } from "./RunsCount";

interface RunsToolbarProps {
  q: string;
  ns: string | undefined;
  columns: ColumnId[];
  onColumns: (columns: ColumnId[]) => void;
  cli: string;
  http: string;
}

export function RunsToolbar({ q, ns, columns, onColumns, cli, http }: RunsToolbarProps) {
  const { t } = useTranslation();
  const chevron = <IconChevronDown size={14} />;
  return (
    <PageHeader title={t("nav.runs")} note={<RunsCount q={q} ns={ns} />}>
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
