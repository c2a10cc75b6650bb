import { randomBytes } from 'node:crypto';
import type { ManagedRoutes } from '../../gateway/fleet/managed-routes.js';
import type { Keys } from '../../store/keys/keys.js';
import type { ModelCache } from '../models/cache/model-cache.js';
import type { Runner, RunnerEvent } from '../runner/contract.js';
import type { ControlStore } from '../store/control-store.js';
import { ApiKeyReconciler } from './api-key-reconciler.js';
import { ClusterReconciler, type DeclaredRunner } from './cluster-reconciler.js';
import { DeclaredReconciler } from './declared-reconciler.js';
import { EndpointReconciler } from './endpoint/endpoint-reconciler.js';
import { LeavingReplicas } from './endpoint/leaving-replicas.js';
import { ExternalEndpointReconciler } from './external-endpoint-reconciler.js';
import { LOCAL_CLUSTER } from './local-cluster.js';
import { ModelRegistryReconciler } from './model-registry-reconciler.js';
import { ModelFetches } from './models/model-fetches.js';
import { Reconcilers } from './reconcilers.js';
import { systemTiming } from './timing.js';

export interface KeepTrueOptions {
  readonly store: ControlStore;
  readonly keys: Keys;
  readonly runner: Runner & DeclaredRunner;
  readonly routes: ManagedRoutes;
  readonly cache: ModelCache;
  readonly self: readonly string[];
  readonly urlOf: (workspace: string, name: string) => string;
  readonly onFault: (error: unknown) => void;
}

/**
 * Looks after every resource from now on: resolves, with how to stop it, when the gateway has the routes of all replicas that run
 * already.
 */
export async function keepTrue(options: KeepTrueOptions): Promise<() => Promise<void>> {
  const { cache, keys, onFault, routes, runner, self, store, urlOf } = options;
  const timing = systemTiming;
  const look = (workspace: string, name: string) => all.look({ kind: 'Endpoint', workspace, name });
  const lookAtCluster = () => all.look({ kind: 'Cluster', workspace: '', name: LOCAL_CLUSTER });
  const fetches = new ModelFetches({ cache, timing, changed: (key) => all.lookAt(key) });
  const left = (workspace: string, endpoint: string) => {
    look(workspace, endpoint);
    roomFreed();
  };
  const leaving = new LeavingReplicas({ runner, routes, timing, left, onFailure: (_, error) => onFault(error) });
  const randomName = () => randomBytes(4).toString('hex');
  const endpoints = new EndpointReconciler({
    ...{ store, runner, routes, leaving, fetches, timing, self, urlOf, randomName },
  });
  const lookAtWaiting = () => {
    for (const key of endpoints.roomFreed()) all.lookAt(key);
  };
  const roomFreed = () => {
    lookAtWaiting();
    lookAtCluster();
  };
  const registries = new ModelRegistryReconciler(store);
  const all: Reconcilers = new Reconcilers({
    ...{ store, timing, onFault },
    reconcilers: [
      endpoints,
      new ExternalEndpointReconciler(store, routes, timing),
      registries,
      new ClusterReconciler(store, runner, lookAtWaiting),
      new ApiKeyReconciler(store, keys, timing),
      new DeclaredReconciler('Engine', store),
      new DeclaredReconciler('Role', store),
      new DeclaredReconciler('Workspace', store),
    ],
  });
  const unheard = runner.watch(({ replica, type }: RunnerEvent) => {
    if (type === 'exited' || type === 'unready') endpoints.lose(replica);
    look(replica.workspace, replica.endpoint);
    if (type === 'exited') roomFreed();
    if (type === 'started') lookAtCluster();
  });
  // Also at those whose endpoint is no more: they are ended.
  for (const { endpoint, workspace } of await runner.list()) look(workspace, endpoint);
  await all.start();
  await all.looked('Endpoint');
  return async () => {
    unheard();
    leaving.close();
    registries.close();
    await all.close();
    fetches.close();
  };
}
