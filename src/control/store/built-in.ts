import type { ResourceRef } from '../../store/resources/resource-record.js';
import { LOCAL_CLUSTER } from '../reconcile/local-cluster.js';
import { isBuiltInEngine } from '../resources/built-in-engines.js';
import { DEFAULT_WORKSPACE } from '../resources/resource.js';

/** What every control plane has. It may be changed, and does not go: the next start would bring it back. */
export function isBuiltIn({ kind, name }: Pick<ResourceRef, 'kind' | 'name'>): boolean {
  if (kind === 'Engine') return isBuiltInEngine(name);
  return (kind === 'Workspace' && name === DEFAULT_WORKSPACE) || (kind === 'Cluster' && name === LOCAL_CLUSTER);
}
