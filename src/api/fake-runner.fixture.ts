import type { LogOptions, ReplicaHandle, Runner, RunnerEvent } from '../control/runner/contract.js';
import { replicaNotFound } from '../control/runner/errors.js';

/** The part of a runner that the API uses: replicas that log what a test sets. */
export class FakeRunner implements Pick<Runner, 'list' | 'logs' | 'watch'> {
  readonly #replicas = new Map<string, { handle: ReplicaHandle; lines: string[]; isOver: boolean }>();
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  #wake: (() => void)[] = [];

  /** @param called `workspace/endpoint` */
  start(id: string, called: string, ...lines: string[]): void {
    const [workspace, endpoint] = called.split('/') as [string, string];
    const handle: ReplicaHandle = {
      ...{ id, workspace, endpoint, generation: 1, specHash: '', phase: 'ready', url: 'http://127.0.0.1:1' },
      ...{ problem: null, resources: { cpu: null, memoryBytes: null, gpus: 0, product: null }, gpus: [] },
      ...{ startedAt: 0, readyAt: null, exit: null },
    };
    this.#replicas.set(id, { handle, lines, isOver: false });
    for (const listener of this.#listeners) listener({ type: 'started', replica: handle });
  }

  write(id: string, line: string): void {
    this.#replicas.get(id)!.lines.push(line);
    this.#news();
  }

  exit(id: string): void {
    this.#replicas.get(id)!.isOver = true;
    this.#news();
  }

  forget(id: string): void {
    this.#replicas.delete(id);
  }

  /** The number of current event subscribers. */
  get listeners(): number {
    return this.#listeners.size;
  }

  async list(): Promise<ReplicaHandle[]> {
    return [...this.#replicas.values()].map(({ handle }) => handle);
  }

  async *logs(id: string, { follow = false, lines = 100, signal }: LogOptions = {}): AsyncGenerator<string> {
    const replica = this.#replicas.get(id);
    if (replica === undefined) throw replicaNotFound(id);
    let at = Math.max(0, replica.lines.length - lines);
    for (;;) {
      while (at < replica.lines.length) yield replica.lines[at++]!;
      if (!follow || replica.isOver || signal?.aborted) return;
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #news(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
