import { PollLoop } from '../../../ray/poll-loop.js';
import { RayClient } from '../../../ray/ray-client.js';
import { isEnded, type RayJob } from '../../../ray/ray-job.js';
import { RayJobs } from '../../../ray/ray-jobs.js';
import { readNodes } from '../../../ray/ray-nodes.js';
import { ChangingTransport } from '../../../ray/ray-transport.js';
import type {
  ClusterCapacity,
  ClusterSettings,
  LogOptions,
  ReplicaExit,
  ReplicaHandle,
  ReplicaSpec,
  Runner,
  RunnerEvent,
  StopOptions,
} from '../contract.js';
import { isNotLeading, NoRoom, notLeading, notStarted } from '../errors.js';
import { gpuDemand } from '../gpu-demand.js';
import { responds } from '../readiness.js';
import { ReplicaTable } from '../replica-table.js';
import { rayUnwatched } from './errors.js';
import { rayCapacity } from './node-rooms.js';
import {
  type ClusterView,
  RAY_TIMING,
  type RayReplicaContext,
  type RayRunnerOptions,
  type RayTiming,
} from './ray-context.js';
import { RayReplica } from './ray-replica.js';
import { accessOf, raySettings } from './ray-settings.js';
import { killJob } from './replica-job.js';
import { ReplicaPlacer } from './replica-placer.js';
import {
  isGhost,
  isKillJob,
  NEW_REPLICA,
  type RayReplicaProgress,
  type RayReplicaRecord,
  ReplicaFiles,
  replicaOfJob,
} from './replica-record.js';

const MOST_DELETED = 100;

/** Runs each replica as a Ray job on a node that it chooses. Jobs are found again by their metadata. */
export class RayRunner implements Runner {
  readonly type = 'ray';
  readonly #options: RayRunnerOptions;
  readonly #timing: RayTiming;
  readonly #transport: ChangingTransport;
  readonly #client: RayClient;
  readonly #jobs: RayJobs;
  readonly #files: ReplicaFiles;
  readonly #placer: ReplicaPlacer;
  readonly #context: RayReplicaContext;
  readonly #replicas = new ReplicaTable<RayReplica>();
  readonly #loop = new PollLoop(() => this.#look());
  #settings: ClusterSettings;
  /** Jobs that were deleted here: a list that was requested before may still have them. */
  #deleted: string[] = [];
  #failures = 0;
  /** Why the last look at the jobs failed. */
  #problem: string | null = null;

  private constructor(options: RayRunnerOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#timing = { ...RAY_TIMING, ...options.timing };
    const access = accessOf(raySettings(options.settings));
    this.#transport = new ChangingTransport(access, options.transport);
    this.#client = new RayClient(access.url, this.#transport);
    const { cluster, mayAct = () => true, onFault = () => {} } = options;
    this.#jobs = new RayJobs(this.#client, () => {
      if (!mayAct()) throw notLeading(cluster);
    });
    this.#files = new ReplicaFiles(options.folder);
    const held = () => this.#replicas.all().map((one) => one.held);
    this.#placer = new ReplicaPlacer(this.#client, cluster, held);
    this.#context = {
      ...{ jobs: this.#jobs, files: this.#files, closed: this.#replicas.closed },
      ...{ readiness: this.#timing.readiness, responds: options.responds ?? responds },
      ...{ followMs: this.#timing.movingMs, killWaitMs: this.#timing.killWaitMs },
      scrub: options.scrub ?? ((line) => line),
      onFault(error) {
        if (!isNotLeading(error)) onFault(error);
      },
      emit: (event) => this.#replicas.emit(event),
      look: () => this.#loop.call(),
      kill: (record, pid) => this.#jobs.submit(killJob(record, pid, cluster)),
    };
  }

  /** Connects and adopts the replicas of the cluster. Throws when the dashboard cannot be reached or refuses the token. */
  static async open(options: RayRunnerOptions): Promise<RayRunner> {
    const runner = new RayRunner(options);
    try {
      const at = Date.now();
      await runner.#jobs.version();
      const jobs = await runner.#jobs.list();
      await runner.#restore(jobs);
      runner.#observe(jobs, { at, nodeIds: null, problem: null });
      runner.#loop.call();
      return runner;
    } catch (error) {
      await runner.close();
      throw error;
    }
  }

  configure(settings: ClusterSettings): void {
    this.#settings = settings;
    this.#transport.use(accessOf(raySettings(settings)));
  }

  async discover(): Promise<ClusterCapacity> {
    const { gpus } = this.#settings;
    const capacity = rayCapacity(await this.#placer.rooms(gpus), gpus);
    return this.#problem === null ? capacity : { ...capacity, problems: [...capacity.problems, this.#problem] };
  }

  async start(spec: ReplicaSpec): Promise<ReplicaHandle> {
    const handle = await this.#replicas.start(spec.id, () => this.#begin(spec));
    this.#placer.release(spec.id);
    this.#loop.call();
    return handle;
  }

  async list(): Promise<ReplicaHandle[]> {
    return this.#replicas.handles();
  }

  stop(id: string, options: StopOptions): Promise<ReplicaExit | null> {
    return this.#replicas.stop(id, async (replica) => {
      const exit = await replica.stop(options);
      this.#forget(replica);
      return exit;
    });
  }

  async *logs(id: string, options: LogOptions = {}): AsyncGenerator<string> {
    yield* this.#replicas.get(id).readLog(options);
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    return this.#replicas.watch(listener);
  }

  async close(): Promise<void> {
    if (this.#replicas.closed.aborted) return;
    this.#replicas.close();
    for (const replica of this.#replicas.all()) replica.release();
    await this.#replicas.settled();
    await this.#loop.close();
    await this.#client.close();
  }

  /** Submits its job; on an error none is left. */
  async #begin(spec: ReplicaSpec): Promise<RayReplica> {
    const { cluster } = this.#options;
    gpuDemand(spec.resources.gpus);
    try {
      const { job, record, upload } = await this.#placer.place(spec, this.#settings);
      const workingFolder = await this.#jobs.upload(upload.name, upload.zip);
      try {
        await this.#jobs.submit(job(workingFolder));
      } catch (error) {
        await this.#jobs.stop(record.submissionId).catch(() => {});
        throw error;
      }
      return new RayReplica(record, NEW_REPLICA, this.#context, false);
    } catch (error) {
      this.#placer.release(spec.id);
      if (error instanceof NoRoom || isNotLeading(error)) throw error;
      throw notStarted(spec.id, `cluster '${cluster}': ${(error as Error).message}`);
    }
  }

  /** Replicas that an earlier runner on this machine has known, also those that Ray has forgotten. */
  async #restore(jobs: readonly RayJob[]): Promise<void> {
    const found = new Map(jobs.map((job) => [job.submission_id!, job]));
    const adopted: Promise<void>[] = [];
    for (const { progress, record } of this.#files.read()) {
      const isPresent = found.has(record.submissionId);
      // Before the job was accepted, the control plane was killed.
      if (!isPresent && progress.url === null && progress.exit === null) void this.#files.delete(record);
      else adopted.push(this.#adopt(record, progress));
    }
    await Promise.all(adopted);
  }

  async #adopt(record: RayReplicaRecord, progress: RayReplicaProgress): Promise<void> {
    if (this.#replicas.isTaken(record.id)) return;
    const replica = new RayReplica(record, progress, this.#context, true);
    this.#replicas.adopt(record.id, replica);
    this.#context.emit({ type: 'started', replica: replica.handle });
    await replica.resume();
  }

  #observe(jobs: readonly RayJob[], view: ClusterView): void {
    const { cluster } = this.#options;
    const byId = new Map(jobs.map((job) => [job.submission_id!, job]));
    for (const job of jobs) {
      // Also those that another control plane starts while this one stands by.
      const record = replicaOfJob(job, cluster);
      if (record !== null && !this.#deleted.includes(record.submissionId)) void this.#adopt(record, NEW_REPLICA);
    }
    for (const replica of this.#replicas.all()) {
      const job = byId.get(replica.record.submissionId) ?? null;
      // Another control plane has removed it.
      if (job === null && replica.exit !== null && replica.isAdopted) this.#forget(replica);
      else replica.observe(job, view);
    }
  }

  #forget(replica: RayReplica): void {
    this.#replicas.forget(replica.record.id, replica);
    this.#placer.ended(replica.held);
    this.#deleted = [...this.#deleted, replica.record.submissionId].slice(-MOST_DELETED);
  }

  async #look(): Promise<number> {
    const at = Date.now();
    const { awayMs, idleMs, movingMs } = this.#timing;
    try {
      const jobs = await this.#jobs.list();
      const isMoving = this.#replicas.all().some((one) => one.isMoving);
      const nodes = isMoving ? await readNodes(this.#client) : null;
      this.#failures = 0;
      this.#problem = null;
      const nodeIds = nodes === null ? null : new Set(nodes.map(({ id }) => id));
      this.#observe(jobs, { at, nodeIds, problem: null });
      await this.#sweep(jobs);
    } catch (error) {
      if (this.#replicas.closed.aborted) return awayMs;
      const problem = (error as Error).message;
      this.#problem = problem;
      if (this.#failures++ === 0) this.#context.onFault(rayUnwatched(problem));
      for (const replica of this.#replicas.all()) replica.observe(null, { at, nodeIds: null, problem });
      return Math.min(awayMs, movingMs * 2 ** this.#failures);
    }
    return this.#replicas.all().some((one) => one.isMoving) ? movingMs : idleMs;
  }

  /**
   * Deletes jobs that have killed others, those of removed replicas that end late, and what Ray lists again of a job that was deleted as
   * soon as it had ended.
   */
  async #sweep(jobs: readonly RayJob[]): Promise<void> {
    const { cluster, mayAct } = this.#options;
    // Another control plane deletes them.
    if (mayAct?.() === false) return;
    for (const job of jobs) {
      const id = job.submission_id!;
      const isOver = isKillJob(job, cluster) || isGhost(job, cluster) || this.#deleted.includes(id);
      if (isEnded(job) && isOver) await this.#jobs.delete(id);
    }
  }
}
