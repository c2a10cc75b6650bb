import type { Status } from '../../resources/resource.js';
import { KvFacts } from '../models/kv-facts.js';
import type { ObservedReplica } from './plan/endpoint-state.js';
import type { Blocker, LastExit } from './status/endpoint-status.js';
import { exitedText } from './status/exit-text.js';
import type { SeenReplicas } from './status/replica-events.js';

/** A start that failed: of which spec, how often in a row, and when the next attempt is made. */
export interface FailedStart extends Blocker {
  readonly specHash: string;
  readonly failures: number;
  readonly retryAt: number;
}

interface StoredReplica {
  readonly id: string;
  readonly restarts: number;
  readonly leaving?: boolean;
}

/**
 * What is known of an endpoint beyond the stored and the observed state. All of it may be lost: then the next attempts come a
 * little sooner, and nothing else changes.
 */
export class EndpointMemory {
  /** How many replicas before it have failed in a row in a replica's place. */
  readonly restarts = new Map<string, number>();
  /** Replicas that an operator has drained. */
  readonly leaving = new Set<string>();
  readonly #unready = new Map<string, number>();
  readonly kv = new KvFacts();
  seen: SeenReplicas | null = null;
  lastExit: LastExit | null = null;
  /** The last problem that was reported; undefined before the first report. */
  reportedProblem: string | null | undefined;
  failedStart: FailedStart | null = null;

  /** @param status as stored by an earlier control plane */
  constructor(status: Status | null) {
    for (const { id, leaving, restarts } of (status?.replicas ?? []) as StoredReplica[]) {
      if (restarts > 0) this.restarts.set(id, restarts);
      if (leaving === true) this.leaving.add(id);
    }
  }

  /** Since when a replica has been observed as unready. */
  unreadySince({ id, phase }: Pick<ObservedReplica, 'id' | 'phase'>, now: number): number | null {
    if (phase !== 'unready') {
      this.#unready.delete(id);
      return null;
    }
    if (!this.#unready.has(id)) this.#unready.set(id, now);
    return this.#unready.get(id)!;
  }

  /** Notes exits, and forgets replicas that do not exist any more. */
  observe(replicas: readonly ObservedReplica[]): void {
    const present = new Set(replicas.map(({ id }) => id));
    for (const known of [this.restarts, this.leaving, this.#unready]) {
      for (const id of known.keys()) if (!present.has(id)) known.delete(id);
    }
    for (const { exit, id, isDraining } of replicas) {
      if (exit === null || isDraining || this.seen?.get(id) === 'exited') continue;
      this.lastExit = { text: exitedText(exit), lines: exit.lastLines };
    }
  }

  /** The failed start of these replicas; one of an earlier spec does not count. */
  failedStartOf(specHash: string | null): FailedStart | null {
    return this.failedStart?.specHash === specHash ? this.failedStart : null;
  }
}
