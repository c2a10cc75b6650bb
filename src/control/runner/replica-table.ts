import type { ReplicaExit, ReplicaHandle, RunnerEvent } from './contract.js';
import { badReplicaId, REPLICA_ID, replicaExists, replicaNotFound, runnerClosed } from './errors.js';

/** The replicas of a runner, by id: those that it has, and those that it is starting or stopping. It also holds the listeners. */
export class ReplicaTable<Replica extends { readonly handle: ReplicaHandle }> {
  readonly #replicas = new Map<string, Replica>();
  readonly #starting = new Map<string, Promise<unknown>>();
  readonly #stopping = new Set<Promise<unknown>>();
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  readonly #closed = new AbortController();

  /** Aborted when the runner is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Throws when there is none. */
  get(id: string): Replica {
    const replica = this.#replicas.get(id);
    if (replica === undefined) throw replicaNotFound(id);
    return replica;
  }

  all(): Replica[] {
    return [...this.#replicas.values()];
  }

  handles(): ReplicaHandle[] {
    const ids = [...this.#replicas.keys()].sort();
    return ids.map((id) => this.#replicas.get(id)!.handle);
  }

  /** Whether a replica has this id, or is being started with it. */
  isTaken(id: string): boolean {
    return this.#replicas.has(id) || this.#starting.has(id);
  }

  /** Adds a replica that runs already. */
  adopt(id: string, replica: Replica): void {
    this.#replicas.set(id, replica);
  }

  /** Starts a replica if the id is free. @param begin on an error it leaves nothing behind */
  async start(id: string, begin: () => Promise<Replica>): Promise<ReplicaHandle> {
    if (this.closed.aborted) throw runnerClosed();
    if (!REPLICA_ID.test(id)) throw badReplicaId(id);
    if (this.isTaken(id)) throw replicaExists(id);
    const begun = begin();
    this.#starting.set(
      id,
      begun.catch(() => {}),
    );
    try {
      this.#replicas.set(id, await begun);
    } finally {
      this.#starting.delete(id);
    }
    const { handle } = await begun;
    this.emit({ type: 'started', replica: handle });
    return handle;
  }

  /** Stops a replica, also one that is still being started, and forgets it. Returns null when there is none. */
  async stop(id: string, stop: (replica: Replica) => Promise<ReplicaExit | null>): Promise<ReplicaExit | null> {
    if (this.closed.aborted) throw runnerClosed();
    if (this.#starting.has(id)) await this.#starting.get(id);
    const replica = this.#replicas.get(id);
    if (replica === undefined) return null;
    const stopped = stop(replica);
    this.#stopping.add(stopped);
    const exit = await stopped.finally(() => this.#stopping.delete(stopped));
    this.forget(id, replica);
    return exit;
  }

  /** Not if another replica has the id by now. */
  forget(id: string, replica: Replica): void {
    if (this.#replicas.get(id) === replica) this.#replicas.delete(id);
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: RunnerEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  /** From now on nothing starts, stops or listens. */
  close(): void {
    this.#listeners.clear();
    this.#closed.abort();
  }

  /** Waits for starts that have begun. */
  async started(): Promise<void> {
    await Promise.all(this.#starting.values());
  }

  /** Waits for starts and stops that have begun. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#starting.values(), ...this.#stopping]);
  }
}
