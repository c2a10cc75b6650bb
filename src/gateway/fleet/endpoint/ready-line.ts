import type { ApiError } from '../../../protocol/errors.js';
import type { Waiting } from '../../flow/waiting.js';
import type { LiveReplica } from '../replica/live-replica.js';

/** A request that may go, and that no replica can take. */
export interface AwaitingReplica extends Waiting {
  /** What it has waited for in the queue. */
  readonly queuedUs: number;
  /** Replicas that had their chance. */
  readonly tried: readonly LiveReplica[];
  /** Its time is over. */
  waitExpired(): void;
}

/**
 * Requests that wait a moment because no replica is ready, and one will probably be: between the last of an old edition and the
 * first of a new one, or while one that crashed is started again. They go in the order in which they came.
 */
export class ReadyLine {
  readonly #waiting = new Map<AwaitingReplica, NodeJS.Timeout>();
  #isClosed = false;

  get size(): number {
    return this.#waiting.size;
  }

  /** Returns whether it waits; it then gets exactly one call of `mayGo`, `refused` and `waitExpired`, unless it leaves before. */
  join(one: AwaitingReplica, withinMs: number): boolean {
    if (this.#isClosed || withinMs <= 0) return false;
    const timer = setTimeout(() => {
      this.#waiting.delete(one);
      one.waitExpired();
    }, withinMs);
    this.#waiting.set(one, timer);
    return true;
  }

  leave(one: AwaitingReplica): void {
    clearTimeout(this.#waiting.get(one));
    this.#waiting.delete(one);
  }

  /** Something has changed: lets those go that a replica can take now. */
  changed(canGo: (one: AwaitingReplica) => boolean): void {
    for (const one of [...this.#waiting.keys()]) {
      if (!canGo(one)) continue;
      this.leave(one);
      one.mayGo(one.queuedUs);
    }
  }

  /** Refuses all that wait, and all further ones. */
  close(error: ApiError, cause: string): void {
    this.#isClosed = true;
    for (const one of [...this.#waiting.keys()]) {
      this.leave(one);
      one.refused(error, cause, one.queuedUs);
    }
  }
}
