import type { ApiError } from '../../../protocol/errors.js';
import type { Waiting } from '../../flow/waiting.js';
import type { LiveReplica } from '../replica/live-replica.js';

/** An admitted request that no replica can take. */
export interface AwaitingReplica extends Waiting {
  /** The reason of its wait in the queue. */
  readonly queuedUs: number;
  /** Replicas that have failed it. */
  readonly tried: readonly LiveReplica[];
  /** Its time is over. */
  waitExpired(): void;
}

/**
 * Requests that wait briefly because no replica is ready but one is expected: between the last replica of an old
 * revision and the first of a new one, or while a crashed one restarts. They leave in order of arrival.
 */
export class ReadyLine {
  readonly #waiting = new Map<AwaitingReplica, NodeJS.Timeout>();
  #isClosed = false;

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Returns whether it waits; it then gets exactly one call of `mayGo`, `refused` and `waitExpired`, unless it leaves
   * before.
   */
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

  /** The fleet has changed: releases requests that a replica can take now. */
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
