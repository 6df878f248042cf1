import { useIdentity, useMay } from "@/app/session";
import { useNamespace } from "@/app/useNamespace";

/** Where an admin page looks: the chosen namespace; without one everywhere, or where the person is admin. */
export function useAdminPlace(): { ns: string | undefined; isEverywhere: boolean } {
  const chosen = useNamespace();
  const identity = useIdentity();
  const isEverywhere = useMay()("token.list_all");
  if (chosen || isEverywhere) return { ns: chosen, isEverywhere };
  const own = identity?.grants.find((grant) => grant.role === "admin" && grant.namespace);
  return { ns: own?.namespace ?? undefined, isEverywhere };
}
