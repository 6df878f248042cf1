import { SegmentedControl } from "@mantine/core";
import { useId } from "react";
import { useTranslation } from "react-i18next";
import type { Role } from "@/lib/api/schema";

const ROLES: Role[] = ["viewer", "operator", "editor", "admin"];

/** A role, and what it allows. */
export function RoleField({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  const { t } = useTranslation();
  const label = useId();
  return (
    <div className="ms-role">
      <span id={label}>{t("role.label")}</span>
      <SegmentedControl
        aria-labelledby={label}
        fullWidth
        data={ROLES.map((role) => ({ value: role, label: role }))}
        value={value}
        onChange={(role) => onChange(role as Role)}
      />
      <p className="ms-muted">{t(`role.${value}`)}</p>
    </div>
  );
}
