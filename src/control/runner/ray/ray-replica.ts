import { isEnded, type RayJob } from '../../../ray/ray-job.js';
import { ChangeSignal, LONGEST_TIMER_MS } from '../change-signal.js';
import type { ExitReason, LogOptions, ReplicaExit, ReplicaHandle, RunPhase, StopOptions } from '../contract.js';
import { isNotLeading, runnerClosed, unwrittenRecord } from '../errors.js';
import { Readiness } from '../readiness.js';
import { jobRemains } from './errors.js';
import { endDetail, exitOf, lateProblem, NODE_LOST } from './job-exit.js';
import { type HeldResources, reportedGpus } from './node-rooms.js';
import type { ClusterView, RayReplicaContext } from './ray-context.js';
import { NO_LINES, RayLog } from './replica-log.js';
import { type RayReplicaProgress, type RayReplicaRecord, replicaUrl } from './replica-record.js';

const TIMEOUT_GRACE_MS = 2000;
const UNSEEN = 'Ray does not know its job any more: its head was restarted, or the job was deleted';

/** One replica from its start or adoption to its end: its job, its health and what was seen of them. */
export class RayReplica {
  readonly record: RayReplicaRecord;
  readonly isAdopted: boolean;
  readonly #context: RayReplicaContext;
  readonly #log: RayLog;
  readonly #changes: ChangeSignal;
  #progress: RayReplicaProgress;
  #job: RayJob | null = null;
  #view: ClusterView | null = null;
  #isUnseen = false;
  #isReady = false;
  #readiness: Readiness | null = null;
  #isFinishing = false;
  #isReading = false;
  #endBy = Number.POSITIVE_INFINITY;
  #kept: Promise<void> | null = null;
  #removed: Promise<void> | null = null;
  /** Views that were requested before do not have its job. */
  readonly #since: number;
  #startupTimer: NodeJS.Timeout | undefined;
  #killTimer: NodeJS.Timeout | undefined;

  constructor(record: RayReplicaRecord, progress: RayReplicaProgress, context: RayReplicaContext, isAdopted: boolean) {
    this.record = record;
    this.isAdopted = isAdopted;
    this.#since = isAdopted ? 0 : Date.now();
    this.#progress = progress;
    this.#context = context;
    const { nodeId, submissionId } = record;
    this.#log = new RayLog({ jobs: context.jobs, submissionId, nodeId, scrub: context.scrub });
    this.#changes = new ChangeSignal(context.closed);
    if (!isAdopted) this.#change({});
  }

  get exit(): ReplicaExit | null {
    return this.#progress.exit;
  }

  get handle(): ReplicaHandle {
    const { address, endpoint, generation, id, resources, specHash, startedAt, workspace } = this.record;
    const { exit, readyAt, url } = this.#progress;
    return {
      ...{ id, workspace, endpoint, generation, specHash, phase: this.#phase },
      // No port is known yet: nothing listens on port 1.
      url: url ?? replicaUrl(address, 1),
      problem: exit === null ? this.#problem : null,
      ...{ resources, gpus: this.#gpus, startedAt, readyAt },
      exit: exit === null ? null : { ...exit, lastLines: exit.lastLines.map(this.#context.scrub) },
    };
  }

  get held(): HeldResources {
    const { nodeId, resources } = this.record;
    const endedAt = this.exit === null ? null : (this.#job?.end_time ?? this.exit.at);
    return { nodeId, resources, gpus: this.#gpus, endedAt };
  }

  /** Its state is expected to change soon. */
  get isMoving(): boolean {
    return this.exit === null && !this.#isReady;
  }

  /** Called with each view of the cluster. @param job null: the cluster has none */
  observe(job: RayJob | null, view: ClusterView): void {
    if (this.#context.closed.aborted) return;
    this.#view = view;
    if (this.exit !== null || this.#isFinishing || view.problem !== null) return;
    if (job === null) this.#miss();
    else this.#see(job);
    this.#changes.notify();
  }

  /** Goes on with what an earlier runner has begun: health checks, or its end. Resolves when its health is known. */
  async resume(): Promise<void> {
    const { ending, exit, url } = this.#progress;
    if (exit !== null) return;
    if (ending !== null) void this.#terminate(ending, TIMEOUT_GRACE_MS).catch(this.#context.onFault);
    else if (url !== null) await this.#watchHealth();
  }

  /** Ends it; resolves when its processes have ended, with how it ended, and its job is deleted. */
  async stop({ graceMs, keepLog }: StopOptions): Promise<ReplicaExit> {
    if (this.exit === null) {
      await this.#terminate('stopped', graceMs);
      await this.#changes.until(() => this.exit !== null, graceMs + this.#context.killWaitMs);
    }
    if (this.exit === null) throw this.#context.closed.aborted ? runnerClosed() : jobRemains(this.record.id);
    this.#kept ??= keepLog?.(this.handle, this.readLog({ tail: 10_000 })) ?? null;
    await this.#kept;
    this.#removed ??= this.#remove();
    await this.#removed;
    return this.exit;
  }

  readLog(options: LogOptions): AsyncGenerator<string> {
    const { closed, followMs } = this.#context;
    const ends = AbortSignal.any([closed, ...(options.signal === undefined ? [] : [options.signal])]);
    const isOver = () => this.exit !== null;
    return this.#log.read(options, { ends, isOver, wait: () => this.#changes.until(isOver, followMs, ends) });
  }

  /** Leaves it alone. */
  release(): void {
    this.#settle();
    this.#changes.notify();
  }

  get #phase(): RunPhase {
    if (this.exit !== null) return 'exited';
    if (this.#progress.ending !== null) return 'stopping';
    if (this.#isReady) return 'ready';
    return this.#progress.readyAt === null ? 'starting' : 'unready';
  }

  get #gpus() {
    return this.#progress.gpus ?? this.record.gpus;
  }

  get #problem(): string | null {
    if (this.#isUnseen) return UNSEEN;
    if (this.#isReady) return null;
    if (this.#view?.problem) return this.#view.problem;
    return this.#job === null ? null : lateProblem(this.#job, this.record);
  }

  #see(job: RayJob): void {
    this.#job = job;
    this.#isUnseen = false;
    const { nodeIds } = this.#view!;
    const isNodeLost = nodeIds !== null && !nodeIds.has(this.record.nodeId);
    const { ending } = this.#progress;
    if (isEnded(job)) void this.#finish(ending ?? 'ended', endDetail(job, ending !== null, isNodeLost));
    else if (isNodeLost && !this.#isReady) void this.#finish(ending ?? 'ended', NODE_LOST);
    else if (job.status === 'RUNNING') void this.#findAddress();
  }

  /** Ray has forgotten it. What responds is served on: nothing is ended that cannot be seen. */
  #miss(): void {
    if (this.#view!.at < this.#since) return;
    this.#isUnseen = true;
    if (this.#isReady) return;
    const detail = this.#job === null || this.#progress.ending === null ? UNSEEN : null;
    void this.#finish(this.#progress.ending ?? 'ended', detail);
  }

  /** The first line of its log. */
  async #findAddress(): Promise<void> {
    if (this.#progress.url !== null || this.#isReading) return;
    this.#isReading = true;
    try {
      const { report } = await this.#log.head();
      if (report.port === undefined || this.#context.closed.aborted || this.exit !== null) return;
      const url = replicaUrl(this.record.address, report.port);
      const gpus = reportedGpus(this.record.gpus, report.devices);
      this.#change({ url, pid: report.pid ?? null, gpus });
      if (this.#progress.ending === null) void this.#watchHealth();
    } catch {
      // The next view tries again.
    } finally {
      this.#isReading = false;
    }
  }

  /** Resolves after the first check. */
  async #watchHealth(): Promise<void> {
    if (this.#readiness !== null) return;
    const { healthPath, startedAt, startupTimeoutMs } = this.record;
    const { look, readiness, responds } = this.#context;
    const check = async () => {
      const isWell = await responds(`${this.#progress.url}${healthPath}`, readiness.timeoutMs);
      // Ray may know why.
      if (!isWell && this.#isReady) look();
      return isWell;
    };
    this.#readiness = new Readiness(check, readiness, (isReady) => this.#setReady(isReady));
    const checked = this.#readiness.start();
    if (this.#progress.readyAt !== null) return checked;
    // Waiting for a node does not count, nor does a control plane that was away.
    const since = Math.max(startedAt, this.#job?.start_time ?? 0);
    const leftMs = Math.max(0, since + startupTimeoutMs - Date.now());
    this.#startupTimer = setTimeout(() => void this.#timeOut(), Math.min(leftMs, LONGEST_TIMER_MS));
    return checked;
  }

  /** While another control plane leads, it is that one's to end. */
  async #timeOut(): Promise<void> {
    try {
      await this.#terminate('startup-timeout', TIMEOUT_GRACE_MS);
    } catch (error) {
      if (this.#context.closed.aborted) return;
      if (isNotLeading(error)) this.#startupTimer = setTimeout(() => void this.#timeOut(), this.#context.followMs);
      else this.#context.onFault(error as Error);
    }
  }

  #setReady(isReady: boolean): void {
    this.#isReady = isReady;
    if (isReady && this.#progress.readyAt === null) {
      clearTimeout(this.#startupTimer);
      this.#change({ readyAt: Date.now() });
    }
    this.#context.emit({ type: isReady ? 'ready' : 'unready', replica: this.handle });
  }

  /** Begins to end it; a second call can only shorten the grace time. */
  async #terminate(reason: ExitReason, graceMs: number): Promise<void> {
    this.#context.jobs.guard();
    const by = Date.now() + graceMs;
    this.#settle();
    this.#isReady = false;
    if (this.#progress.ending === null) this.#change({ ending: reason });
    if (by >= this.#endBy) return;
    const isFirst = this.#endBy === Number.POSITIVE_INFINITY;
    this.#endBy = by;
    try {
      if (isFirst) await this.#context.jobs.stop(this.record.submissionId);
    } catch (error) {
      this.#endBy = Number.POSITIVE_INFINITY;
      throw error;
    }
    this.#killTimer = setTimeout(() => void this.#kill(), Math.min(graceMs, LONGEST_TIMER_MS));
    this.#context.look();
  }

  async #kill(): Promise<void> {
    const { kill, onFault } = this.#context;
    try {
      await this.#findAddress();
      const { pid } = this.#progress;
      if (this.exit !== null || this.#context.closed.aborted) return;
      if (pid !== null) await kill(this.record, pid);
      // It has not begun: nothing can be killed yet.
      else this.#killTimer = setTimeout(() => void this.#kill(), this.#context.followMs);
    } catch (error) {
      if (!this.#context.closed.aborted) onFault(error as Error);
    }
  }

  async #finish(reason: ExitReason, detail: string | null): Promise<void> {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    this.#settle();
    this.#isReady = false;
    const isBegun = this.#progress.url !== null;
    const isReadable = detail !== NODE_LOST && !this.#isUnseen;
    const lines = isReadable ? await this.#log.lastWords(isBegun, this.#context) : NO_LINES;
    if (this.#context.closed.aborted) return;
    const { scrub } = this.#context;
    const at = this.#job?.end_time ?? Date.now();
    this.#change({ exit: exitOf(reason, this.#job, lines, { at, detail, scrub }) });
    this.#changes.notify();
    this.#context.emit({ type: 'exited', replica: this.handle });
  }

  async #remove(): Promise<void> {
    const { files, jobs } = this.#context;
    try {
      // Of a lost node, Ray may still list it as running: the runner deletes it when it has ended there.
      if (!(await jobs.delete(this.record.submissionId))) await jobs.stop(this.record.submissionId);
      await files.delete(this.record);
    } catch (error) {
      // The next stop tries again.
      this.#removed = null;
      throw error;
    }
  }

  /** No timers and no checks from now on. */
  #settle(): void {
    this.#readiness?.stop();
    clearTimeout(this.#startupTimer);
    clearTimeout(this.#killTimer);
  }

  #change(change: Partial<RayReplicaProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    try {
      this.#context.files.write(this.record, this.#progress);
    } catch (error) {
      this.#context.onFault(unwrittenRecord(this.record.id, error));
    }
  }
}
