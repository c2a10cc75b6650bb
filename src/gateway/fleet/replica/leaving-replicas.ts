import type { LiveReplica } from './live-replica.js';

/** Replicas that are in no endpoint any more and still have requests to finish. */
export class LeavingReplicas {
  /** Each with the timer of its deadline, if it has one. */
  readonly #deadlines = new Map<LiveReplica, NodeJS.Timeout | undefined>();

  all(): LiveReplica[] {
    return [...this.#deadlines.keys()];
  }

  /** Lets a replica finish its requests within `withinMs`; Infinity: however long that takes. */
  add(replica: LiveReplica, withinMs: number): void {
    const timer = Number.isFinite(withinMs) ? setTimeout(() => this.cut(replica), withinMs).unref() : undefined;
    this.#deadlines.set(replica, timer);
    if (replica.active === 0) this.cut(replica);
    else replica.idleListeners.add(() => this.cut(replica));
  }

  /** Closes the connections of a replica, and with them its last requests. */
  cut(replica: LiveReplica): void {
    clearTimeout(this.#deadlines.get(replica));
    if (this.#deadlines.delete(replica)) void replica.close();
  }

  /** Returns those that are left, to be closed by the caller; their deadlines do not apply any more. */
  release(): LiveReplica[] {
    const left = this.all();
    for (const timer of this.#deadlines.values()) clearTimeout(timer);
    this.#deadlines.clear();
    return left;
  }
}
