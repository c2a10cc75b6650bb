import { isEnough } from '../api/access';
import type { Role, Session } from '../api/types';

/** The workspace of a visitor who has not chosen one: `default`, or, with roles in single workspaces only, the first where it is enough. */
export function ownWorkspace(session: Session | null | undefined, role: Role): string {
  if (session === null || session === undefined || isEnough(session.role, role)) return 'default';
  const own = Object.entries(session.workspaces);
  return (own.find(([, one]) => isEnough(one, role)) ?? own[0])?.[0] ?? 'default';
}
