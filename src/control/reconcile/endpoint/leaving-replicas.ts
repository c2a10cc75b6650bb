import type { ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import type { Runner } from '../../runner/contract.js';
import { retryDelay } from '../retry-delay.js';
import type { Timing } from '../timing.js';

/** How long an engine without requests may take to end by itself. */
const GRACE_MS = 10_000;

export interface LeavingOptions {
  readonly runner: Pick<Runner, 'stop'>;
  readonly routes: Pick<ManagedRoutes, 'drained'>;
  readonly timing: Timing;
  /** A replica is gone. */
  readonly left: (workspace: string, endpoint: string) => void;
  /** Hears of a replica that does not end; it is told again later. */
  readonly onFailure: (id: string, error: unknown) => void;
}

interface Leaver {
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
}

/**
 * Replicas on their way out: no new requests, then the end of those they have or of their time, then their own. Who has no routes
 * any more when it comes here gets no more requests.
 */
export class LeavingReplicas {
  readonly #leaving = new Set<string>();
  readonly #options: LeavingOptions;
  #isClosed = false;

  constructor(options: LeavingOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#leaving.has(id);
  }

  /** Begins it; asking again changes nothing. */
  leave(replica: Leaver, drainMs: number): void {
    if (this.#leaving.has(replica.id)) return;
    this.#leaving.add(replica.id);
    void this.#leave(replica, drainMs);
  }

  /** Whoever is on the way stays: the next control plane will find and judge it. */
  close(): void {
    this.#isClosed = true;
  }

  async #leave({ endpoint, id, workspace }: Leaver, drainMs: number): Promise<void> {
    const { left, onFailure, routes, runner, timing } = this.#options;
    await routes.drained(workspace, endpoint, id, drainMs);
    for (let failures = 1; !this.#isClosed; failures++) {
      try {
        await runner.stop(id, { graceMs: GRACE_MS });
        this.#leaving.delete(id);
        left(workspace, endpoint);
        return;
      } catch (error) {
        if (this.#isClosed) return;
        onFailure(id, error);
        await new Promise<void>((resolve) => timing.after(retryDelay(failures), resolve));
      }
    }
  }
}
