import { TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";

interface FilterFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** The filter of a list; `/` goes there. */
export function FilterField({ label, value, onChange }: FilterFieldProps) {
  return (
    <TextInput
      className="ms-filter"
      data-search-field
      aria-label={label}
      placeholder={label}
      value={value}
      leftSection={<IconSearch size={16} aria-hidden />}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
