import type { ApiError } from '../../protocol/errors.js';
import { removal } from './eligibility.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { LiveReplica } from './live-replica.js';
import type { ManagedFacts } from './managed-routes.js';
import { type Hoping, ReadyLine } from './ready-line.js';

/** Who serves the models of an endpoint, and the requests that wait a moment for somebody who can take them. */
export class EndpointMembers {
  replicas: readonly LiveReplica[] = [];
  /** Null for an endpoint of the configuration. */
  managed: ManagedFacts | null = null;
  protected readonly parts: EndpointParts;
  readonly #line = new ReadyLine();

  constructor(parts: EndpointParts) {
    this.parts = parts;
  }

  /** Whether a replica serves this model, well or not, or is to. */
  serves(model: string): boolean {
    for (let slot = 0; slot < this.replicas.length; slot++) if (this.replicas[slot]!.models.has(model)) return true;
    return this.managed?.models?.includes(model) === true;
  }

  /** Whether a replica that serves this model is well. */
  isReadyFor(model: string): boolean {
    for (let slot = 0; slot < this.replicas.length; slot++) {
      const { models, state } = this.replicas[slot]!;
      if (state === 'ready' && models.has(model)) return true;
    }
    return false;
  }

  /** Whether there is another replica that could take a request now. */
  hasOther(model: string, tried: readonly LiveReplica[], last: LiveReplica): boolean {
    const nowMs = this.parts.nowUs() / 1000;
    return this.replicas.some(
      (replica) => replica !== last && !tried.includes(replica) && removal(replica, model, nowMs) === null,
    );
  }

  /** Whether it is worth a moment's wait when no replica is ready. */
  get isAwaited(): boolean {
    return this.managed !== null && this.managed.isIdle !== true && this.parts.config.waitMs > 0;
  }

  /** A request that no replica could take waits for one, if that is worth it; returns whether it does. */
  awaitReplica(one: Hoping): boolean {
    return this.isAwaited && this.#line.join(one, this.parts.config.waitMs);
  }

  /** It does not wait any more. */
  stopAwaiting(one: Hoping): void {
    if (this.#line.size > 0) this.#line.leave(one);
  }

  /** Those go whom a replica can take now. */
  protected wakeAwaiting(): void {
    if (this.#line.size === 0) return;
    const nowMs = this.parts.nowUs() / 1000;
    this.#line.changed(({ facts, tried }) =>
      this.replicas.some((replica) => !tried.includes(replica) && removal(replica, facts.model, nowMs) === null),
    );
  }

  /** Those who wait are told this, and nobody waits any more. */
  protected turnOutAwaiting(error: ApiError, cause: string): void {
    this.#line.close(error, cause);
  }
}
