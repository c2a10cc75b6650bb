import type { ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import type { ClusterRunners } from '../../runner/cluster-runners.js';
import { isNotLeading } from '../../runner/errors.js';
import { retryDelay } from '../queue/retry-delay.js';
import type { Timing } from '../queue/timing.js';

/** Grace time of an engine without requests. */
const GRACE_MS = 10_000;
/** How long other gateways may still send requests to a draining replica. */
const OTHERS_MS = 2000;

export interface ReplicaDrainerOptions {
  readonly runners: Pick<ClusterRunners, 'stop'>;
  readonly routes: Pick<ManagedRoutes, 'drained'>;
  readonly timing: Timing;
  /** Whether other gateways route to the replicas: they see a change of the status a moment later. */
  readonly hasOtherGateways?: () => Promise<boolean>;
  /** Called when a replica of this endpoint has been stopped. */
  readonly stopped: (workspace: string, endpoint: string) => void;
  /** Called when a replica cannot be stopped; it is tried again later. */
  readonly onFailure: (id: string, error: unknown) => void;
}

interface DrainedReplica {
  readonly id: string;
  readonly cluster: string;
  readonly workspace: string;
  readonly endpoint: string;
}

/**
 * Draining replicas: they get no new requests, and are stopped when theirs have ended or the drain time is over. Routes
 * to them are removed before.
 */
export class ReplicaDrainer {
  readonly #draining = new Set<string>();
  readonly #options: ReplicaDrainerOptions;
  #isClosed = false;

  constructor(options: ReplicaDrainerOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#draining.has(id);
  }

  /** Starts draining; a second call changes nothing. */
  drain(replica: DrainedReplica, drainMs: number): void {
    if (this.#draining.has(replica.id)) return;
    this.#draining.add(replica.id);
    void this.#drain(replica, drainMs);
  }

  /** Stops no more replicas: the next control plane finds them and decides. */
  close(): void {
    this.#isClosed = true;
  }

  async #drain(replica: DrainedReplica, drainMs: number): Promise<void> {
    const { hasOtherGateways, onFailure, routes, runners, stopped, timing } = this.#options;
    const { endpoint, id, workspace } = replica;
    const [others] = await Promise.all([hasOtherGateways?.(), routes.drained(workspace, endpoint, id, drainMs)]);
    if (others === true) await new Promise<void>((resolve) => timing.after(Math.min(OTHERS_MS, drainMs), resolve));
    for (let failures = 1; !this.#isClosed; failures++) {
      try {
        await runners.stop(replica, { graceMs: GRACE_MS });
        this.#draining.delete(id);
        stopped(workspace, endpoint);
        return;
      } catch (error) {
        if (this.#isClosed) return;
        if (isNotLeading(error)) {
          // The next leader finds it and decides.
          this.#draining.delete(id);
          return;
        }
        onFailure(id, error);
        await new Promise<void>((resolve) => timing.after(retryDelay(failures), resolve));
      }
    }
  }
}
