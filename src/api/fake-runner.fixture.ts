import type { ClusterRunners } from '../control/runner/cluster-runners.js';
import type { LogOptions, ReplicaHandle, Runner, RunnerEvent } from '../control/runner/contract.js';
import { replicaNotFound } from '../control/runner/errors.js';
import { fakeHandle } from '../control/runner/fake-handle.fixture.js';

type Runners = Pick<Runner, 'list' | 'logs' | 'watch'> & Pick<ClusterRunners, 'previousLog'>;

/** The part of runners that the API uses: replicas that log what a test sets. */
export class FakeRunner implements Runners {
  readonly #replicas = new Map<string, { handle: ReplicaHandle; lines: string[]; isOver: boolean }>();
  readonly #listeners = new Set<(event: RunnerEvent) => void>();
  /** The times since which logs were read. */
  readonly since: number[] = [];
  #wake: (() => void)[] = [];

  /** @param called `workspace/endpoint` */
  start(id: string, called: string, ...lines: string[]): void {
    const [workspace, endpoint] = called.split('/') as [string, string];
    const handle = fakeHandle(id, { workspace, endpoint });
    this.#replicas.set(id, { handle, lines, isOver: false });
    for (const listener of this.#listeners) listener({ type: 'started', replica: handle });
  }

  write(id: string, line: string): void {
    this.#replicas.get(id)!.lines.push(line);
    this.#news();
  }

  exit(id: string): void {
    const replica = this.#replicas.get(id)!;
    replica.isOver = true;
    const exit = { reason: 'ended', code: 1, signal: null, detail: null, at: 0, lastLines: [] } as const;
    replica.handle = { ...replica.handle, phase: 'exited', exit };
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

  async *logs(id: string, options: LogOptions = {}): AsyncGenerator<string> {
    const {
      cursor = { position: null },
      follow = false,
      signal,
      since,
      tail = since === undefined ? 100 : 1e4,
    } = options;
    const replica = this.#replicas.get(id);
    if (replica === undefined) throw replicaNotFound(id);
    if (since !== undefined) this.since.push(since);
    let at = cursor.position === null ? Math.max(0, replica.lines.length - tail) : Number(cursor.position);
    for (;;) {
      while (at < replica.lines.length) {
        cursor.position = String(at + 1);
        yield replica.lines[at++]!;
      }
      if (!follow || replica.isOver || signal?.aborted) return;
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  async previousLog({ endpoint, workspace }: Pick<ReplicaHandle, 'workspace' | 'endpoint'>, tail: number) {
    const isOurs = ({ handle }: { handle: ReplicaHandle }) =>
      handle.workspace === workspace && handle.endpoint === endpoint;
    const over = [...this.#replicas.values()].filter((one) => one.isOver && isOurs(one)).at(-1);
    return over === undefined ? null : { replica: over.handle.id, lines: this.logs(over.handle.id, { tail }) };
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #news(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
