import { LOCAL_CLUSTER } from '../reconcile/local-cluster.js';
import { builtInEngines } from '../resources/built-in-engines.js';
import { checkedResource } from '../resources/check-resource.js';
import { API_VERSION, DEFAULT_WORKSPACE, type Resource } from '../resources/resource.js';
import { CONTROL_PLANE } from './actors.js';
import type { ControlStore } from './control-store.js';
import { refOf } from './resource-view.js';

/**
 * Puts in place what every control plane begins with: the built-in engines, the workspace `default` and the cluster `local`.
 * What somebody has changed is left as it is; what is missing comes back with the next start.
 */
export async function installDefaults(store: ControlStore): Promise<void> {
  const placeOf = (path: string) => `built in (${path})`;
  const made = (kind: string, name: string) =>
    checkedResource({ apiVersion: API_VERSION, kind, metadata: { name }, spec: {} }, placeOf);
  const wanted: Resource[] = [];
  for (const resource of [made('Workspace', DEFAULT_WORKSPACE), made('Cluster', LOCAL_CLUSTER), ...builtInEngines()]) {
    const record = await store.resources.get(refOf(resource));
    if (record !== null) {
      const [last] = await store.resources.audit({ uid: record.uid, declared: true, limit: 1 });
      if (last?.actor !== CONTROL_PLANE || record.deletedAt !== null) continue;
    }
    wanted.push(resource);
  }
  await store.apply(
    CONTROL_PLANE,
    wanted.map((resource) => ({ resource, placeOf })),
  );
}
