import { useQuery } from "@tanstack/react-query";
import { call } from "@/lib/api/client";
import { useIdentity } from "./session";

/** The namespaces that the person may see. */
export function useNamespaces(enabled = true) {
  const identity = useIdentity();
  return useQuery({
    queryKey: ["namespaces", identity?.subject],
    queryFn: ({ signal }) => call("namespace_list", { query: { limit: 1000 }, signal }),
    enabled,
    staleTime: 30_000,
  });
}
