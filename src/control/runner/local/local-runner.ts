import { mkdirSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FileLock } from '../../../files/file-lock.js';
import { folderProblem } from '../../../files/file-problem.js';
import { makeFolder } from '../../../files/make-folder.js';
import type {
  ClusterCapacity,
  ClusterSettings,
  LogOptions,
  ReplicaExit,
  ReplicaHandle,
  ReplicaSpec,
  ReplicaUser,
  Runner,
  RunnerEvent,
  StopOptions,
} from '../contract.js';
import { badRunnerFolder, folderInUse, notLinux, replicaNotFound } from '../errors.js';
import type { ReadinessTiming } from '../readiness.js';
import { ReplicaTable } from '../replica-table.js';
import { type FoundReplica, findReplicas } from './find-replicas.js';
import { LocalReplica, type ReplicaContext } from './local-replica.js';
import type { Scrub } from './log/shown-line.js';
import { type Allocation, allocate, freeOf, type Machine } from './machine/allocate.js';
import { thisMachine } from './machine/machine.js';
import { PortBook } from './process/port-book.js';
import { ReplicaProcess } from './process/replica-process.js';
import { letThrough } from './process/replica-user.js';
import { startReplica } from './start-replica.js';

export interface LocalRunnerOptions {
  /** Holds the folders of replicas; used by one control plane at a time. */
  readonly folder: string;
  /** Resources of the machine that are not detected, but given. */
  readonly machine?: Partial<Machine>;
  /** The base of the environment of engines; by default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Replicas run as this user; by default as that of this process. */
  readonly user?: ReplicaUser | null;
  /** Removes known secrets from lines of logs. */
  readonly scrub?: Scrub;
  readonly readiness?: Partial<ReadinessTiming>;
  /** Size of a replica's log at which it is rotated; two files are kept. */
  readonly logBytes?: number;
  /** How often the size of logs is recorded and checked. */
  readonly logEveryMs?: number;
  /** How long a process may take to end after SIGKILL: no time, unless it hangs inside the kernel. */
  readonly killWaitMs?: number;
  /** Called with problems that do not stop the runner. */
  readonly onFault?: (error: Error) => void;
}

const READINESS: ReadinessTiming = { everyMs: 500, timeoutMs: 2000, failures: 3 };
const LOG_BYTES = 4 * 1024 * 1024;
const LOG_EVERY_MS = 1000;
const KILL_WAIT_MS = 10_000;
const REPLICAS = 'replicas';

/**
 * Runs engines as processes of this machine. They outlive the control plane: they write their own logs, lead their own sessions,
 * and are found again by a record that is written before each is started.
 */
export class LocalRunner implements Runner {
  readonly type = 'local';
  readonly #replicas = new ReplicaTable<LocalReplica>();
  /** Resources of replicas without a process yet, by id. */
  readonly #reserved = new Map<string, Allocation>();
  readonly #folder: string;
  #declared: Partial<Machine>;
  readonly #lock: FileLock;
  readonly #env: NodeJS.ProcessEnv;
  readonly #user: ReplicaUser | null;
  readonly #context: ReplicaContext;
  #machine: Machine;
  #logTimer: NodeJS.Timeout;

  private constructor(folder: string, options: LocalRunnerOptions, lock: FileLock, machine: Machine) {
    this.#folder = folder;
    this.#declared = options.machine ?? {};
    this.#lock = lock;
    this.#machine = machine;
    this.#env = options.env ?? process.env;
    this.#user = options.user ?? null;
    this.#context = {
      ports: new PortBook(folder),
      timing: { ...READINESS, ...options.readiness },
      mostLogBytes: options.logBytes ?? LOG_BYTES,
      killWaitMs: options.killWaitMs ?? KILL_WAIT_MS,
      scrub: options.scrub ?? ((line) => line),
      emit: (event) => this.#replicas.emit(event),
      onFault: options.onFault ?? (() => {}),
    };
    this.#logTimer = setInterval(() => this.#tendLogs(), options.logEveryMs ?? LOG_EVERY_MS);
  }

  /**
   * Opens a runner on a folder and adopts the replicas in it, after a readiness check of each. Throws when the folder cannot be
   * used, or when another control plane uses it.
   */
  static async open(options: LocalRunnerOptions): Promise<LocalRunner> {
    if (process.platform !== 'linux') throw notLinux(process.platform);
    const { folder, lock } = await takeFolder(options.folder);
    if ((options.user ?? null) !== null) for (const one of [options.folder, folder]) letThrough(one);
    try {
      const { machine } = await thisMachine(options.machine ?? {}, options.env ?? process.env);
      const { killWaitMs = KILL_WAIT_MS, onFault = () => {}, scrub = (line) => line } = options;
      const found = await findReplicas(folder, { killWaitMs, onFault, scrub });
      const runner = new LocalRunner(folder, options, lock, machine);
      await runner.#adopt(found);
      return runner;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  configure({ gpus }: ClusterSettings): void {
    const { gpus: _, ...rest } = this.#declared;
    this.#declared = gpus === undefined ? rest : { ...rest, gpus };
  }

  async discover(): Promise<ClusterCapacity> {
    const { machine, problems } = await thisMachine(this.#declared, this.#env);
    this.#machine = machine;
    const limits = { cpu: 'none', memory: 'each-process', gpus: 'none' } as const;
    return { ...machine, free: freeOf(machine, this.#held()), limits, problems };
  }

  async start(spec: ReplicaSpec): Promise<ReplicaHandle> {
    const handle = await this.#replicas.start(spec.id, () => this.#begin(spec));
    this.#reserved.delete(spec.id);
    return handle;
  }

  async list(): Promise<ReplicaHandle[]> {
    return this.#replicas.handles();
  }

  stop(id: string, { graceMs, keepLog }: StopOptions): Promise<ReplicaExit | null> {
    return this.#replicas.stop(id, async (replica) => {
      const exit = await replica.stop(graceMs);
      await replica.remove(keepLog);
      return exit;
    });
  }

  async *logs(id: string, options: LogOptions = {}): AsyncGenerator<string> {
    const { log } = this.#replicas.get(id);
    try {
      yield* log.read(options);
    } catch (error) {
      // It is being removed: stopped, but not yet forgotten.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw replicaNotFound(id);
      throw error;
    }
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    return this.#replicas.watch(listener);
  }

  async close(): Promise<void> {
    if (this.#replicas.closed.aborted) return;
    this.#replicas.close();
    clearInterval(this.#logTimer);
    await this.#replicas.started();
    await Promise.all(this.#replicas.all().map((replica) => replica.release()));
    this.#lock.release();
  }

  /** Creates its folder and its process; on an error neither is left. */
  async #begin(spec: ReplicaSpec): Promise<LocalReplica> {
    const held = allocate(this.#machine, this.#held(), spec.resources, spec.placement);
    this.#reserved.set(spec.id, held);
    const folder = join(this.#folder, spec.id);
    const { ports } = this.#context;
    const start = () => startReplica({ spec, held, folder, ports, env: this.#env, user: this.#user });
    try {
      // An existing folder does not belong to the replica.
      await rm(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o700 });
      const { process, record } = await start();
      const replica = new LocalReplica(folder, record, this.#context, start);
      void replica.watch(process);
      return replica;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      this.#reserved.delete(spec.id);
      throw error;
    }
  }

  async #adopt(found: readonly FoundReplica[]): Promise<void> {
    const checks = found.map(({ folder, isRunning, record }) => {
      const replica = new LocalReplica(folder, record, this.#context, null);
      this.#replicas.adopt(record.id, replica);
      if (!isRunning) return undefined;
      this.#context.ports.keep(record.port);
      return replica.watch(new ReplicaProcess(record.process, folder, null));
    });
    await Promise.all(checks);
  }

  #held(): Allocation[] {
    const running = this.#replicas.all().filter(({ exit }) => exit === null);
    const byId = new Map<string, Allocation>(this.#reserved);
    for (const { handle } of running) byId.set(handle.id, handle);
    return [...byId.values()];
  }

  #tendLogs(): void {
    for (const replica of this.#replicas.all()) if (replica.exit === null) replica.tendLog();
  }
}

async function takeFolder(root: string): Promise<{ folder: string; lock: FileLock }> {
  try {
    makeFolder(join(root, REPLICAS));
    const folder = realpathSync(join(root, REPLICAS));
    const lock = await FileLock.take(join(root, 'lock'));
    if (lock !== null) return { folder, lock };
  } catch (error) {
    throw badRunnerFolder(root, folderProblem(error));
  }
  throw folderInUse(root);
}
