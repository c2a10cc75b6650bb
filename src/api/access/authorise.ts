import type { ApiKeySpec } from '../../control/resources/kinds/api-key.js';
import { kindNamed } from '../../control/resources/kinds.js';
import type { Resource } from '../../control/resources/resource.js';
import type { ControlStore } from '../../control/store/control-store.js';
import { refOf } from '../../control/store/resource-view.js';
import { EVERY_WORKSPACE } from '../../gateway/access/reach.js';
import type { KeyRole } from '../../store/keys/key-record.js';
import { Forbidden } from '../errors.js';
import { type Caller, isEnough, roleAnywhere, roleIn } from './caller.js';

/**
 * Where a caller must have a role: in the workspace that the path names, in every workspace, or in any workspace at
 * all. `each`: the operation checks every resource that it reads or writes.
 */
export type RouteScope = 'workspace' | 'global' | 'anywhere' | 'each';

/** What an operation requires of its caller. */
export interface RequiredRole {
  /** `none`: any valid key. */
  readonly role: KeyRole;
  readonly scope: RouteScope;
}

/** Throws `Forbidden` unless the caller has the role where it must be held. */
export function authorise(caller: Caller, { role, scope }: RequiredRole, workspace: string): void {
  if (scope === 'global') demand(caller.role, role, 'in every workspace');
  else if (scope === 'workspace') demand(roleIn(caller, workspace), role, `in workspace '${workspace}'`);
  else demand(roleAnywhere(caller), role, 'in some workspace');
}

/**
 * Throws `Forbidden` unless the caller may create or change this resource, or issue a secret for it. A key that reaches
 * other workspaces takes an admin of each of them, a key that reaches every workspace an admin of every workspace.
 */
export async function authoriseChange(caller: Caller, store: ControlStore, resource: Resource): Promise<void> {
  await authoriseRemoval(caller, store, resource);
  if (resource.kind !== 'ApiKey') return;
  for (const { workspace } of (resource.spec as ApiKeySpec).grants) {
    if (workspace === EVERY_WORKSPACE) demand(caller.role, 'admin', 'in every workspace');
    else demand(roleIn(caller, workspace), 'admin', `in workspace '${workspace}'`);
  }
}

/**
 * Throws `Forbidden` unless the caller may delete this resource, or revoke it. A key with a role has that role in every
 * workspace: only a caller that has it may create, change or delete such a key.
 */
export async function authoriseRemoval(caller: Caller, store: ControlStore, resource: Resource): Promise<void> {
  const { changedBy, scope } = kindNamed(resource.kind, resource.kind);
  authorise(caller, { role: changedBy, scope }, resource.metadata.workspace ?? '');
  if (resource.kind !== 'ApiKey') return;
  const before = await store.get(refOf(resource));
  for (const one of [resource, before]) {
    demand(caller.role, (one?.spec as ApiKeySpec | undefined)?.role ?? 'none', 'in every workspace');
  }
}

function demand(has: KeyRole, wanted: KeyRole, where: string): void {
  if (!isEnough(has, wanted)) throw new Forbidden(wanted, has, where);
}
