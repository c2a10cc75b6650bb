import type { ReplicaExit, ReplicaHandle, ReplicaSpec, Runner, RunnerEvent } from '../runner/contract.js';
import { NoRoom } from '../runner/errors.js';
import type { Timing } from './timing.js';

/** A runner without processes: replicas become what the test says. */
export class FakeRunner implements Pick<Runner, 'start' | 'stop' | 'list' | 'watch'> {
  readonly started: ReplicaSpec[] = [];
  readonly stopped: string[] = [];
  /** How many fit. */
  room = Number.POSITIVE_INFINITY;
  /** What the next start throws instead. */
  startFails: Error | null = null;
  /** What the next stop throws instead. */
  stopFails: Error | null = null;
  readonly #replicas = new Map<string, ReplicaHandle>();
  readonly #listeners = new Set<(event: RunnerEvent) => void>();

  constructor(private readonly timing: Timing) {}

  async start(spec: ReplicaSpec): Promise<ReplicaHandle> {
    const { endpoint, generation, id, resources, specHash, workspace } = spec;
    const failure = this.startFails;
    this.startFails = null;
    if (failure !== null) throw failure;
    const running = [...this.#replicas.values()].filter(({ phase }) => phase !== 'exited').length;
    if (running >= this.room) throw new NoRoom('cpu', { ...resources, cpu: 1 }, { cpus: 0, memoryBytes: 0, gpus: [] });
    this.started.push(spec);
    const port = 20_000 + this.started.length;
    const handle: ReplicaHandle = {
      ...{ id, workspace, endpoint, generation, specHash, resources, port },
      ...{ phase: 'starting', url: `http://127.0.0.1:${port}`, pid: null, gpus: [] },
      ...{ startedAt: this.timing.now(), readyAt: null, exit: null },
    };
    this.#replicas.set(id, handle);
    this.#tell('started', handle);
    return handle;
  }

  async stop(id: string): Promise<ReplicaExit | null> {
    const failure = this.stopFails;
    this.stopFails = null;
    if (failure !== null) throw failure;
    const replica = this.#replicas.get(id);
    if (replica === undefined) return null;
    this.stopped.push(id);
    this.#replicas.delete(id);
    return replica.exit ?? { reason: 'stopped', code: 0, signal: null, at: this.timing.now(), lastLines: [] };
  }

  async list(): Promise<ReplicaHandle[]> {
    return [...this.#replicas.values()];
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Those that run, in the order of their starts. */
  get ids(): string[] {
    return [...this.#replicas.keys()];
  }

  ready(...ids: readonly string[]): void {
    for (const id of ids) this.#change(id, 'ready', { phase: 'ready', readyAt: this.timing.now() });
  }

  unready(id: string): void {
    this.#change(id, 'unready', { phase: 'unready' });
  }

  crash(id: string, lastLines: readonly string[] = []): void {
    const exit = { reason: 'ended', code: 1, signal: null, at: this.timing.now(), lastLines } as const;
    this.#change(id, 'exited', { phase: 'exited', exit });
  }

  #change(id: string, type: RunnerEvent['type'], change: Partial<ReplicaHandle>): void {
    const replica = { ...this.#replicas.get(id)!, ...change };
    this.#replicas.set(id, replica);
    this.#tell(type, replica);
  }

  #tell(type: RunnerEvent['type'], replica: ReplicaHandle): void {
    for (const listener of this.#listeners) listener({ type, replica });
  }
}
