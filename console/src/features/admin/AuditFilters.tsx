import { Autocomplete, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { PERMISSIONS } from "@/lib/api/schema";
import { fromField, toField } from "./moments";
import { TextFilter } from "./TextFilter";

export interface AuditFilter {
  actor?: string | undefined;
  operation?: string | undefined;
  target?: string | undefined;
  from?: string | undefined;
  until?: string | undefined;
}

const OPERATIONS = Object.keys(PERMISSIONS).sort();

/** The filter of the audit. What is typed applies with Enter or when the field is left. */
export function AuditFilters({
  filter,
  onChange,
}: {
  filter: AuditFilter;
  onChange: (change: AuditFilter) => void;
}) {
  const { t } = useTranslation();
  // Browsers have a field for a moment in their own zone and none for another; UTC is easily made of it.
  const zone = useZone() === "UTC" ? "UTC" : "local";
  const moment = (key: "from" | "until") => (
    <TextInput
      type="datetime-local"
      label={t(`admin.audit.${key}`)}
      value={toField(filter[key], zone)}
      onChange={(event) => onChange({ [key]: fromField(event.currentTarget.value, zone) })}
    />
  );
  return (
    <div className="ms-audit-filters">
      <TextFilter
        label={t("admin.col.actor")}
        value={filter.actor}
        isSearch
        onApply={(actor) => onChange({ actor })}
      />
      <Autocomplete
        size="sm"
        label={t("admin.col.operation")}
        placeholder="job.put"
        data={OPERATIONS}
        limit={50}
        maxDropdownHeight={280}
        value={filter.operation ?? ""}
        onChange={(operation) => onChange({ operation: operation || undefined })}
      />
      <TextFilter
        label={t("admin.col.target")}
        value={filter.target}
        onApply={(target) => onChange({ target })}
      />
      {moment("from")}
      {moment("until")}
    </div>
  );
}
