import type { RoleSpec } from '../../control/resources/kinds/role.js';
import { KEY_ROLES, type KeyRole } from '../../store/keys/key-record.js';
import type { ResourceRecord } from '../../store/resources/resource-record.js';

/** An authenticated caller and its roles. */
export interface Caller {
  /** For the audit log. */
  readonly name: string;
  /** In every workspace. */
  readonly role: KeyRole;
  /** The id of its API key; absent for the admin token and for tokens of an issuer. */
  readonly keyId?: string;
  /** Further roles by workspace. */
  readonly workspaces: ReadonlyMap<string, KeyRole>;
}

/** Whether a caller may decide which code runs and which addresses are reached: an admin of one workspace may not. */
export const isAdminEverywhere = ({ role }: Pick<Caller, 'role'>) => isEnough(role, 'admin');

/** Whether a role includes another: each has the rights of those before it. */
export const isEnough = (role: KeyRole, wanted: KeyRole) => KEY_ROLES.indexOf(role) >= KEY_ROLES.indexOf(wanted);

export function roleIn({ role, workspaces }: Caller, workspace: string): KeyRole {
  return higher(role, workspaces.get(workspace) ?? 'none');
}

/** The workspaces in which the caller has at least a role; undefined for every workspace. */
export function workspacesWith({ role, workspaces }: Caller, wanted: KeyRole): readonly string[] | undefined {
  if (isEnough(role, wanted)) return undefined;
  return [...workspaces].filter(([, own]) => isEnough(own, wanted)).map(([workspace]) => workspace);
}

/** The highest role that the caller has anywhere. */
export function roleAnywhere({ role, workspaces }: Caller): KeyRole {
  return [...workspaces.values()].reduce(higher, role);
}

/**
 * The roles that Role resources give to an ApiKey, by workspace.
 * @param key the ApiKey
 */
export function workspaceRoles(
  roles: readonly Pick<ResourceRecord, 'workspace' | 'spec' | 'deletedAt'>[],
  key: { readonly workspace: string; readonly name: string },
): Map<string, KeyRole> {
  const found = new Map<string, KeyRole>();
  for (const { deletedAt, spec, workspace } of roles) {
    const { api_keys, role } = spec as RoleSpec;
    if (deletedAt !== null || workspace !== key.workspace || !api_keys.includes(key.name)) continue;
    found.set(workspace, higher(found.get(workspace) ?? 'none', role));
  }
  return found;
}

const higher = (a: KeyRole, b: KeyRole): KeyRole => (isEnough(a, b) ? a : b);
