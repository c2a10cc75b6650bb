import { KEY_ROLES, type KeyRole } from '../../store/keys/key-record.js';
import type { ResourceRecord } from '../../store/resources/resource-record.js';
import type { RoleSpec } from '../resources/kinds/role.js';

/** Who asks, and what he may do. */
export interface Caller {
  /** For the audit log. */
  readonly name: string;
  /** What he may do everywhere. */
  readonly role: KeyRole;
  /** What he may do besides in a workspace. */
  readonly workspaces: ReadonlyMap<string, KeyRole>;
}

export const isEnough = (role: KeyRole, wanted: KeyRole) => KEY_ROLES.indexOf(role) >= KEY_ROLES.indexOf(wanted);

export function roleIn({ role, workspaces }: Caller, workspace: string): KeyRole {
  return higher(role, workspaces.get(workspace) ?? 'none');
}

/** The most he is anywhere. */
export function roleAnywhere({ role, workspaces }: Caller): KeyRole {
  return [...workspaces.values()].reduce(higher, role);
}

/**
 * What the holder of an ApiKey may do in workspaces, by the Role resources there are.
 * @param key the resource
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
