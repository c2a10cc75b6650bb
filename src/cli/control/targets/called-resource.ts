import type { ResourceKind } from '../../../control/resources/kind.js';
import { DEFAULT_WORKSPACE } from '../../../control/resources/resource.js';
import { onlyEndpoints } from '../errors.js';

/** A resource as a command names it, and its path in the API. */
export interface CalledResource {
  readonly kind: ResourceKind;
  /** Empty for kinds without a workspace. */
  readonly workspace: string;
  readonly name: string;
  /** For messages: `Endpoint default/chat`. */
  readonly shown: string;
  readonly path: string;
}

/** The most names in one command. */
export const MOST_NAMES = 1000;

export async function calledKind(given: string): Promise<ResourceKind> {
  const { kindNamed } = await import('../../../control/resources/kinds.js');
  return kindNamed(given, 'KIND');
}

export async function calledResource(
  kindGiven: string,
  name: string,
  workspaceGiven: string | null,
): Promise<CalledResource> {
  return resourceAt(await calledKind(kindGiven), name, workspaceGiven ?? DEFAULT_WORKSPACE);
}

export function resourceAt(kind: ResourceKind, name: string, workspace: string): CalledResource {
  const isGlobal = kind.scope === 'global';
  return {
    kind,
    workspace: isGlobal ? '' : workspace,
    name,
    shown: isGlobal ? `${kind.kind} ${name}` : `${kind.kind} ${workspace}/${name}`,
    path: `${listPath(kind, workspace)}/${encodeURIComponent(name)}`,
  };
}

/** Where the resources of a kind are listed. @param workspace null for those of all */
export function listPath({ plural, scope }: ResourceKind, workspace: string | null): string {
  if (scope === 'global' || workspace === null) return `/api/v1/${plural}`;
  return `/api/v1/workspaces/${encodeURIComponent(workspace)}/${plural}`;
}

/** The same for commands that only endpoints support. */
export async function calledEndpoint(
  kindGiven: string,
  name: string,
  workspaceGiven: string | null,
): Promise<CalledResource> {
  const called = await calledResource(kindGiven, name, workspaceGiven);
  if (called.kind.kind !== 'Endpoint') throw onlyEndpoints(kindGiven);
  return called;
}
