import type { KeyRole } from '../../store/keys/key-record.js';
import type { ApiKeySpec } from '../resources/kinds/api-key.js';
import { kindNamed } from '../resources/kinds.js';
import type { Resource } from '../resources/resource.js';
import type { ControlStore } from '../store/control-store.js';
import { refOf } from '../store/resource-view.js';
import { type Caller, isEnough, roleAnywhere, roleIn } from './caller.js';
import type { ControlRoute } from './control-route.js';
import { Forbidden } from './errors.js';

/** Throws `Forbidden` unless the caller has the route's role where it has to be held. */
export function authorise(
  caller: Caller,
  { role, scope }: Pick<ControlRoute, 'role' | 'scope'>,
  workspace: string,
): void {
  if (scope === 'global') demand(caller.role, role, 'everywhere');
  else if (scope === 'workspace') demand(roleIn(caller, workspace), role, `in the workspace '${workspace}'`);
  else demand(roleAnywhere(caller), role, 'somewhere');
}

/**
 * Throws `Forbidden` unless the caller may make this resource so. A key with a role is a way to have that role everywhere:
 * only who has it may make such a key, change it or delete it.
 */
export async function authoriseChange(caller: Caller, store: ControlStore, resource: Resource): Promise<void> {
  const { changedBy, scope } = kindNamed(resource.kind, resource.kind);
  authorise(caller, { role: changedBy, scope }, resource.metadata.workspace ?? '');
  if (resource.kind !== 'ApiKey') return;
  const before = await store.get(refOf(resource));
  for (const one of [resource, before]) {
    const role = (one?.spec as ApiKeySpec | undefined)?.role ?? 'none';
    demand(caller.role, role, 'everywhere');
  }
}

function demand(has: KeyRole, wanted: KeyRole, where: string): void {
  if (!isEnough(has, wanted)) throw new Forbidden(wanted, has, where);
}
