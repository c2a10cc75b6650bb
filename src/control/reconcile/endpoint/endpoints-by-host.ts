import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { Status } from '../../resources/resource.js';
import type { ClusterRunners } from '../../runner/cluster-runners.js';
import { isNotLeading } from '../../runner/errors.js';
import type { ControlStore } from '../../store/control-store.js';
import type { Reconciler, StartNeeds } from '../queue/reconciler.js';
import type { Timing } from '../queue/timing.js';
import { unreadyStatus } from '../queue/unready-status.js';
import type { EndpointReconciler } from './endpoint-reconciler.js';
import type { RemoteEndpoints } from './remote-endpoints.js';
import type { ReplicaDrainer } from './replica-drainer.js';

/** How often an endpoint is looked at whose host does not run. */
const AWAY_MS = 5000;

export interface EndpointsByHostOptions {
  readonly store: ControlStore;
  readonly local: Pick<EndpointReconciler, 'reconcile' | 'restore' | 'forget'>;
  readonly remote: RemoteEndpoints;
  readonly runners: Pick<ClusterRunners, 'list' | 'typeOf'>;
  readonly timing: Timing;
  readonly draining: Pick<ReplicaDrainer, 'drain'>;
  /** Whether the replicas of a cluster are started and stopped by this process. */
  readonly isHere: (cluster: string) => boolean;
  /** Why changes of the cluster's endpoints are not carried out now, for the leader to report; null when they are. */
  readonly hostProblem: (cluster: string) => string | null;
}

/** Reconciles the endpoints of this host, and routes to those of others. */
export class EndpointsByHost implements Reconciler {
  readonly kind = 'Endpoint';

  constructor(private readonly options: EndpointsByHostOptions) {}

  restore(record: ResourceRecord): StartNeeds {
    const { hostProblem, isHere, local, remote } = this.options;
    const { cluster } = record.spec as EndpointSpec;
    if (isHere(cluster)) return local.restore(record);
    if (!remote.restore(record)) return 'now';
    return hostProblem(cluster) === null ? 'nothing' : 'later';
  }

  async reconcile(ref: ResourceRef): Promise<number | null> {
    const { isHere, local, remote, store } = this.options;
    const record = await store.resources.get(ref);
    if (record === null) remote.remove(ref);
    if (record === null || isHere((record.spec as EndpointSpec).cluster)) {
      if (record !== null) remote.forget(ref);
      return this.#reconcileHere(ref);
    }
    local.forget(ref);
    await this.#stopStrays(record);
    await remote.route(record);
    return this.#reportAway(record);
  }

  /** The next leader goes on where this one has to stop. */
  async #reconcileHere(ref: ResourceRef): Promise<number | null> {
    try {
      return await this.options.local.reconcile(ref);
    } catch (error) {
      if (isNotLeading(error)) return null;
      throw error;
    }
  }

  /** Replicas on this machine from before the cluster was moved to another host. */
  async #stopStrays({ name, spec, workspace }: ResourceRecord): Promise<void> {
    const { draining, runners } = this.options;
    const drainMs = (spec as EndpointSpec).deployment.drain_timeout_s * 1000;
    for (const { cluster, endpoint, id, workspace: of } of await runners.list()) {
      const isStray = of === workspace && endpoint === name && runners.typeOf(cluster)?.runsHere === true;
      if (isStray) draining.drain({ id, cluster, workspace, endpoint }, drainMs);
    }
  }

  /** A change that waits for a host that does not run says so. */
  async #reportAway(record: ResourceRecord): Promise<number | null> {
    const { hostProblem, store, timing } = this.options;
    const problem = hostProblem((record.spec as EndpointSpec).cluster);
    if (problem === null) return null;
    const status = record.status as Status | null;
    const isDone = record.deletedAt === null && status?.observed_generation === record.generation;
    if (!isDone && status?.message !== problem) {
      const waiting = { ...status, phase: status?.phase ?? 'Pending', message: problem };
      const now = new Date(timing.now()).toISOString();
      const next = record.deletedAt === null ? waiting : unreadyStatus(status, 'Deleting', problem, now);
      await store.putStatus(record, record.uid, next);
      await store.events.add(record, 'warning', 'HostAway', problem);
    }
    return AWAY_MS;
  }
}
