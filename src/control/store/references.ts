import type { ResourceRecord, ResourceRef } from '../../store/resources/resource-record.js';
import type { ApiKeySpec } from '../resources/kinds/api-key.js';
import type { EndpointSpec } from '../resources/kinds/endpoint.js';

/** The resources that refer to this one. */
export function usersOf(ref: ResourceRef, all: readonly ResourceRecord[]): ResourceRecord[] {
  return all.filter((one) => refersTo(one, ref));
}

/** Whether a key reaches a workspace by a grant: a later workspace of the name would be reached as well. */
function isGranted(spec: unknown, workspace: string): boolean {
  return (spec as ApiKeySpec).grants.some((grant) => grant.workspace === workspace);
}

/** Whether a resource refers to another. */
export function refersTo({ kind, spec, workspace }: ResourceRecord, ref: ResourceRef): boolean {
  if (ref.kind === 'Workspace') return workspace === ref.name || (kind === 'ApiKey' && isGranted(spec, ref.name));
  if (kind === 'Role' && ref.kind === 'ApiKey') {
    return workspace === ref.workspace && (spec as { api_keys: readonly string[] }).api_keys.includes(ref.name);
  }
  if (kind !== 'Endpoint') return false;
  const { cluster, engine, model } = spec as EndpointSpec;
  switch (ref.kind) {
    case 'Engine':
      return engine.name === ref.name;
    case 'Cluster':
      return cluster === ref.name;
    case 'ModelRegistry':
      return workspace === ref.workspace && model.registry === ref.name;
    default:
      return false;
  }
}
