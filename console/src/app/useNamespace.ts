import { useSearch } from "@tanstack/react-router";

/** The namespace of the URL; nothing means all that may be seen. */
export function useNamespace(): string | undefined {
  return useSearch({ strict: false }).ns;
}
