import { Autocomplete } from "@mantine/core";
import { useNamespaces } from "@/app/useNamespaces";

interface NamespaceFieldProps {
  label: string;
  description?: string | undefined;
  value: string;
  error?: string | undefined;
  disabled?: boolean;
  required?: boolean;
  placeholder?: string;
  onChange: (namespace: string) => void;
}

/** A namespace: one of those that are there, or a new path. */
export function NamespaceField(props: NamespaceFieldProps) {
  const namespaces = useNamespaces();
  const paths = [...new Set(["default", ...(namespaces.data?.items.map((item) => item.path) ?? [])])];
  return <Autocomplete {...props} size="sm" data={paths.sort()} maxDropdownHeight={240} />;
}
