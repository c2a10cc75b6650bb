import type { ResourceRef } from '../../store/resources/resource-record.js';
import { isBuiltInEngine } from '../resources/built-in-engines.js';
import { DEFAULT_WORKSPACE } from '../resources/resource.js';
import { isBuiltInCluster } from '../runner/registry.js';

/** Built-in resources can be changed but not deleted: the next start would create them again. */
export function isBuiltIn({ kind, name }: Pick<ResourceRef, 'kind' | 'name'>): boolean {
  if (kind === 'Engine') return isBuiltInEngine(name);
  return (kind === 'Workspace' && name === DEFAULT_WORKSPACE) || (kind === 'Cluster' && isBuiltInCluster(name));
}
