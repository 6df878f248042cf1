import { useQuery } from "@tanstack/react-query";
import { call } from "@/lib/api/client";

/** The doctor's look at the whole, as the overview reads it too. */
export const useDoctor = (enabled = true) =>
  useQuery({
    queryKey: ["doctor"],
    queryFn: ({ signal }) => call("doctor", { signal }),
    enabled,
    refetchInterval: 30_000,
  });
