import type { LiveReplica } from './live-replica.js';

/** Replicas that are in no endpoint any more and still have requests to finish. */
export class LeavingReplicas {
  /** Each with the end of its time, if there is one. */
  readonly #deadlines = new Map<LiveReplica, NodeJS.Timeout | undefined>();

  all(): LiveReplica[] {
    return [...this.#deadlines.keys()];
  }

  /** It finishes what it has, for so long at most; Infinity: as long as that takes. */
  add(replica: LiveReplica, withinMs: number): void {
    const timer = Number.isFinite(withinMs) ? setTimeout(() => this.cut(replica), withinMs).unref() : undefined;
    this.#deadlines.set(replica, timer);
    if (replica.active === 0) this.cut(replica);
    else replica.idleListeners.add(() => this.cut(replica));
  }

  /** Ends the connections of a replica that has left, and with them what is under way on them. */
  cut(replica: LiveReplica): void {
    clearTimeout(this.#deadlines.get(replica));
    if (this.#deadlines.delete(replica)) void replica.close();
  }

  /** Whoever is still there, to be closed by the caller: nobody's time is watched any more. */
  release(): LiveReplica[] {
    const left = this.all();
    for (const timer of this.#deadlines.values()) clearTimeout(timer);
    this.#deadlines.clear();
    return left;
  }
}
