import { builtInEngines } from '../resources/built-in-engines.js';
import { checkedResource } from '../resources/check-resource.js';
import { API_VERSION, DEFAULT_WORKSPACE, type Resource } from '../resources/resource.js';
import { RUNNER_TYPES } from '../runner/registry.js';
import { CONTROL_PLANE } from './actors.js';
import type { ControlStore } from './control-store.js';
import { refOf } from './resource-view.js';

/**
 * Applies the built-in resources: the workspace `default`, the cluster of this machine and the engines. Those that an operator has
 * changed are left alone; missing ones are created again at the next start.
 */
export async function installDefaults(store: ControlStore): Promise<void> {
  const placeOf = (path: string) => `built in (${path})`;
  const made = (kind: string, name: string, spec = {}) =>
    checkedResource({ apiVersion: API_VERSION, kind, metadata: { name }, spec }, placeOf);
  const clusters = RUNNER_TYPES.flatMap(({ builtInCluster, name }) =>
    builtInCluster === null ? [] : [made('Cluster', builtInCluster, { type: name })],
  );
  const wanted: Resource[] = [];
  for (const resource of [made('Workspace', DEFAULT_WORKSPACE), ...clusters, ...builtInEngines()]) {
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
