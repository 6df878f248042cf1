// Which operations a person may use, from their grants and the permission table. The server decides; this only keeps
// buttons away that would be refused.
import { type Identity, PERMISSIONS, type Role } from "./schema";

export type Permission = keyof typeof PERMISSIONS;

const RANK: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 };

const covers = (granted: string, namespace: string) =>
  namespace === granted || namespace.startsWith(`${granted}/`);

/** Whether the grants allow an operation in a namespace; without a namespace: in some namespace. */
export function may(identity: Identity | undefined, operation: Permission, namespace?: string): boolean {
  if (!identity) return false;
  const { place, role } = PERMISSIONS[operation];
  if (place === "anyone" || place === "signed in") return true;
  return identity.grants.some((grant) => {
    if (RANK[grant.role] < RANK[role]) return false;
    if (!grant.namespace) return true;
    if (place === "everywhere") return false;
    return namespace === undefined || covers(grant.namespace, namespace);
  });
}
