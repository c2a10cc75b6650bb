import { useSession } from './queries';
import type { Role } from './types';

const RANKS: readonly Role[] = ['none', 'viewer', 'operator', 'admin'];

/** Whether the visitor has a role in a workspace, or in every one. The server decides; pages only hide what it would refuse. */
export function useMay(role: Role, workspace?: string): boolean {
  const { data } = useSession();
  if (data === null || data === undefined) return false;
  const own = workspace === undefined ? data.role : best(data.role, data.workspaces[workspace] ?? 'none');
  return isEnough(own, role);
}

/** Whether a role may do what another one may. */
export const isEnough = (role: Role, wanted: Role) => RANKS.indexOf(role) >= RANKS.indexOf(wanted);

/** The highest role that the visitor has anywhere. */
export function useBestRole(): Role {
  const { data } = useSession();
  return data === null || data === undefined ? 'none' : Object.values(data.workspaces).reduce(best, data.role);
}

const best = (a: Role, b: Role): Role => (isEnough(a, b) ? a : b);
