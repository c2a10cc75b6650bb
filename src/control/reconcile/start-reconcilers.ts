import { randomBytes } from 'node:crypto';
import type { ManagedRoutes } from '../../gateway/fleet/managed-routes.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import type { ModelCache } from '../models/cache/model-cache.js';
import type { ClusterSpec } from '../resources/kinds/cluster.js';
import type { EndpointSpec } from '../resources/kinds/endpoint.js';
import type { ClusterRunners } from '../runner/cluster-runners.js';
import type { ControlStore } from '../store/control-store.js';
import { EndpointReconciler } from './endpoint/endpoint-reconciler.js';
import { EndpointsByHost } from './endpoint/endpoints-by-host.js';
import { RemoteEndpoints } from './endpoint/remote-endpoints.js';
import { ReplicaDrainer } from './endpoint/replica-drainer.js';
import { ClusterReconciler, clusterSettings } from './kinds/cluster-reconciler.js';
import { DeclaredReconciler } from './kinds/declared-reconciler.js';
import { ExternalEndpointReconciler } from './kinds/external-endpoint-reconciler.js';
import { ModelRegistryReconciler } from './kinds/model-registry-reconciler.js';
import { ModelFetches } from './models/model-fetches.js';
import type { Reconciler } from './queue/reconciler.js';
import { Reconcilers } from './queue/reconcilers.js';
import { systemTiming } from './queue/timing.js';
import { type Scope, WHOLE_SCOPE } from './scope.js';

export interface StartReconcilersOptions {
  readonly store: ControlStore;
  readonly runners: ClusterRunners;
  readonly routes: ManagedRoutes;
  readonly cache: ModelCache;
  readonly self: readonly string[];
  readonly urlOf: (workspace: string, name: string) => string;
  readonly onFault: (error: unknown) => void;
  readonly scope?: Scope;
  readonly hasOtherGateways?: () => Promise<boolean>;
}

/** Reconcilers at work. */
export interface StartedReconcilers {
  /**
   * The scope has changed. Until clusters have been opened again, their endpoints are routed as the store has them.
   * @param before runs first
   */
  reconsider(before?: () => Promise<void>): Promise<void>;
  /** Another replica takes the place of this one, which leaves when enough others serve. False if another process reconciles the endpoint. */
  drain(endpoint: ResourceRef, replica: string): boolean;
  close(): Promise<void>;
}

/**
 * Reconciles every resource of its scope from now on. Resolves when the gateway has the routes of all replicas that are already
 * running.
 */
export async function startReconcilers(options: StartReconcilersOptions): Promise<StartedReconcilers> {
  const { cache, hasOtherGateways, onFault, routes, runners, scope = WHOLE_SCOPE, self, store, urlOf } = options;
  const timing = systemTiming;
  let opening = 0;
  /** Replicas of a cluster that is being opened look like missing ones. */
  const isHere = (cluster: string) => scope.isHere(cluster) && (opening === 0 || isLocal(cluster));
  const isLocal = (cluster: string) => runners.typeOf(cluster)?.runsHere === true;
  const enqueueEndpoint = (workspace: string, name: string) => all.enqueue({ kind: 'Endpoint', workspace, name });
  const enqueueCluster = (name: string) => all.enqueue({ kind: 'Cluster', workspace: '', name });
  const fetches = new ModelFetches({ cache, timing, changed: (key) => all.enqueueKey(key) });
  const draining = new ReplicaDrainer({
    ...{ runners, routes, timing },
    stopped(workspace, endpoint) {
      enqueueEndpoint(workspace, endpoint);
      enqueueWaiting();
    },
    onFailure: (_, error) => onFault(error),
    ...(hasOtherGateways === undefined ? {} : { hasOtherGateways }),
  });
  const randomName = () => randomBytes(4).toString('hex');
  const endpoints = new EndpointReconciler({
    ...{ store, runners, routes, draining, fetches, timing, self, urlOf, randomName },
  });
  const enqueueWaiting = () => {
    for (const key of endpoints.roomFreed()) all.enqueueKey(key);
  };
  /** Also endpoints that do not exist any more: their replicas are stopped. */
  const enqueueRunning = async () => {
    for (const { endpoint, workspace } of await runners.list()) enqueueEndpoint(workspace, endpoint);
  };
  /** Its replicas have been found, and endpoints that waited for it can start theirs. */
  const enqueueEndpointsOf = async (cluster: string) => {
    await enqueueRunning();
    for (const { name, spec, workspace } of await store.resources.list({ kind: 'Endpoint' })) {
      if ((spec as EndpointSpec).cluster === cluster) enqueueEndpoint(workspace, name);
    }
  };
  const registries = new ModelRegistryReconciler(store);
  const remote = new RemoteEndpoints({ store, routes, sharesLoopback: scope.sharesLoopback });
  const here = new EndpointsByHost({ store, local: endpoints, remote, runners, draining, timing, ...scope, isHere });
  const clusters = new ClusterReconciler({ store, runners, freed: enqueueWaiting, opened: enqueueEndpointsOf });
  const isLeader = () => scope.isLeader();
  const changed = (key: string) => all.enqueueKey(key);
  const external = new ExternalEndpointReconciler({ store, routes, timing, isLeader, changed });
  const all: Reconcilers = new Reconcilers({
    ...{ store, timing, onFault },
    followsStatus: ({ kind, spec }) => kind === 'Endpoint' && !isHere((spec as EndpointSpec).cluster),
    reports({ kind, name, spec }) {
      if (kind === 'Endpoint') return isHere((spec as EndpointSpec).cluster);
      return kind === 'Cluster' ? isHere(name) : isLeader();
    },
    reconcilers: [
      here,
      external,
      onlyWhere(isLeader, registries),
      onlyWhere(({ name }) => isHere(name), clusters),
      onlyWhere(isLeader, new DeclaredReconciler('Engine', store)),
      onlyWhere(isLeader, new DeclaredReconciler('Role', store)),
      onlyWhere(isLeader, new DeclaredReconciler('Workspace', store)),
    ],
  });
  const unwatch = runners.watch(({ replica, type }) => {
    if (type === 'exited' || type === 'unready') endpoints.unroute(replica, type === 'exited');
    enqueueEndpoint(replica.workspace, replica.endpoint);
    if (type === 'exited') enqueueWaiting();
    if (type === 'exited' || type === 'started') enqueueCluster(replica.cluster);
  });
  await openClusters(store, runners, isLeader());
  await enqueueRunning();
  await all.start();
  await Promise.all([all.settled('Endpoint'), all.settled('ExternalEndpoint')]);
  let turn = Promise.resolve();
  return {
    async reconsider(before = () => Promise.resolve()) {
      opening++;
      turn = turn.then(async () => {
        try {
          await before();
          // Also those that were created while another process led, and with what it has changed there.
          await runners.dropShared();
          await openClusters(store, runners, isLeader());
        } finally {
          opening--;
        }
      });
      const done = turn;
      turn = turn.catch(() => {});
      await done;
      await all.enqueueAll();
    },
    drain(endpoint, replica) {
      const isHere = endpoints.drain(endpoint, replica);
      all.enqueue(endpoint);
      return isHere;
    },
    async close() {
      unwatch();
      draining.close();
      registries.close();
      await all.close();
      external.close();
      fetches.close();
    },
  };
}

/** The same reconciler for resources of this process; others are left alone. */
const onlyWhere = (isOurs: (ref: ResourceRef) => boolean, reconciler: Reconciler): Reconciler => ({
  kind: reconciler.kind,
  reconcile: async (ref) => (isOurs(ref) ? reconciler.reconcile(ref) : null),
});

/**
 * Before endpoints are reconciled: replicas of a cluster that is not open look like missing ones. Those that other control planes
 * reach too are opened by the leader only.
 */
async function openClusters({ resources }: ControlStore, runners: ClusterRunners, isLeader: boolean): Promise<void> {
  const clusters = await resources.list({ kind: 'Cluster' });
  const opened = clusters
    .filter(({ deletedAt, name }) => deletedAt === null && runners.typeOf(name) === null)
    .filter(({ spec }) => isLeader || runners.runsHere((spec as ClusterSpec).type))
    .map(({ name, spec }) => runners.use(name, (spec as ClusterSpec).type, clusterSettings(spec as ClusterSpec)));
  // A cluster that cannot be opened is reported by its reconciler.
  await Promise.allSettled(opened);
}
