import type { ClusterEvent, ClusterReplica, ClusterRunners } from '../runner/cluster-runners.js';
import type { ReplicaExit, ReplicaHandle, ReplicaSpec } from '../runner/contract.js';
import { NoRoom } from '../runner/errors.js';
import { localType } from '../runner/local/local-type.js';
import type { RunnerType } from '../runner/runner-type.js';
import type { Timing } from './queue/timing.js';

/** Runners without processes: the test sets the state of replicas. Only the cluster `local` is open. */
export class FakeRunners implements Pick<ClusterRunners, 'typeOf' | 'start' | 'stop' | 'list' | 'watch' | 'forgetLog'> {
  readonly started: ReplicaSpec[] = [];
  readonly stopped: string[] = [];
  /** Endpoints whose kept logs were deleted. */
  readonly forgotten: string[] = [];
  /** How many replicas fit. */
  room = Number.POSITIVE_INFINITY;
  /** Thrown by the next start. */
  startFails: Error | null = null;
  /** Thrown by the next stop. */
  stopFails: Error | null = null;
  readonly #replicas = new Map<string, ClusterReplica>();
  readonly #listeners = new Set<(event: ClusterEvent) => void>();

  constructor(private readonly timing: Timing) {}

  typeOf(cluster: string): RunnerType | null {
    return cluster === 'local' ? localType : null;
  }

  async start(cluster: string, spec: ReplicaSpec): Promise<ReplicaHandle> {
    const { endpoint, generation, id, resources, specHash, workspace } = spec;
    const failure = this.startFails;
    this.startFails = null;
    if (failure !== null) throw failure;
    const running = [...this.#replicas.values()].filter(({ phase }) => phase !== 'exited').length;
    if (running >= this.room) throw new NoRoom('cpu', { ...resources, cpu: 1 }, { cpus: 0, memoryBytes: 0, gpus: [] });
    this.started.push(spec);
    const port = 20_000 + this.started.length;
    const handle: ClusterReplica = {
      ...{ id, cluster, workspace, endpoint, generation, specHash, resources },
      ...{ phase: 'starting', url: `http://127.0.0.1:${port}`, problem: null, gpus: [] },
      ...{ startedAt: this.timing.now(), readyAt: null, exit: null },
    };
    this.#replicas.set(id, handle);
    this.#emit('started', handle);
    return handle;
  }

  async stop({ id }: Pick<ClusterReplica, 'cluster' | 'id'>): Promise<ReplicaExit | null> {
    const failure = this.stopFails;
    this.stopFails = null;
    if (failure !== null) throw failure;
    const replica = this.#replicas.get(id);
    if (replica === undefined) return null;
    this.stopped.push(id);
    this.#replicas.delete(id);
    const stopped = { reason: 'stopped', code: 0, signal: null, detail: null, lastLines: [] } as const;
    return replica.exit ?? { ...stopped, at: this.timing.now() };
  }

  async forgetLog({ endpoint, workspace }: Pick<ReplicaHandle, 'workspace' | 'endpoint'>): Promise<void> {
    this.forgotten.push(`${workspace}/${endpoint}`);
  }

  async list(): Promise<ClusterReplica[]> {
    return [...this.#replicas.values()];
  }

  watch(listener: (event: ClusterEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The ids of all replicas, in the order of their starts. */
  get ids(): string[] {
    return [...this.#replicas.keys()];
  }

  ready(...ids: readonly string[]): void {
    for (const id of ids) this.#change(id, 'ready', { phase: 'ready', readyAt: this.timing.now() });
  }

  unready(id: string): void {
    this.#change(id, 'unready', { phase: 'unready' });
  }

  /** The cluster reports what keeps a replica from becoming ready. */
  hold(id: string, problem: string): void {
    this.#change(id, 'problem', { problem });
  }

  crash(id: string, lastLines: readonly string[] = []): void {
    const exit = { reason: 'ended', code: 1, signal: null, detail: null, at: this.timing.now(), lastLines } as const;
    this.#change(id, 'exited', { phase: 'exited', exit });
  }

  #change(id: string, type: ClusterEvent['type'], change: Partial<ReplicaHandle>): void {
    const replica = { ...this.#replicas.get(id)!, ...change };
    this.#replicas.set(id, replica);
    this.#emit(type, replica);
  }

  #emit(type: ClusterEvent['type'], replica: ClusterReplica): void {
    for (const listener of this.#listeners) listener({ type, replica });
  }
}
