import { ChangeSignal, LONGEST_TIMER_MS } from '../change-signal.js';
import type { LogOptions, ReplicaExit, ReplicaHandle, RunnerEvent, RunPhase, StopOptions } from '../contract.js';
import { runnerClosed } from '../errors.js';
import type { ClusterCalls } from './cluster-calls.js';
import { DeploymentWriter } from './deployment-writer.js';
import { podRemains } from './errors.js';
import type { Deployment, RenderedDeployment, ReplicaPod } from './manifests/deployment.js';
import { deploymentManifest } from './manifests/replica-manifests.js';
import { type PodReplicaRecord, type ReplicaProgress, readDeployment } from './manifests/replica-record.js';
import { LOG_LINES, logLines, logQuery, PodTail } from './pod-log.js';
import {
  type ContainerEnd,
  containerEnd,
  engineStatus,
  goneDetail,
  hasLog,
  isPodReady,
  podUrl,
  replicaProblem,
  scheduledAt,
} from './pod-state.js';
import { PodTermination } from './pod-termination.js';
import type { PodEvent } from './pod-warnings.js';

/** What all replicas of a runner share. */
export interface PodReplicaContext {
  readonly calls: ClusterCalls;
  readonly killWaitMs: number;
  /** Aborted when the runner is closed. */
  readonly closed: AbortSignal;
  readonly scrub: (line: string) => string;
  /** The last event about a pod, by its UID. */
  readonly warningOf: (uid: string) => PodEvent | null;
  readonly emit: (event: RunnerEvent) => void;
  readonly onFault: (error: Error) => void;
}

/** Of times in Kubernetes. */
const TIME_UNIT_MS = 1000;
const TIMEOUT_GRACE_MS = 2000;
/** How long the status of a container may come after the end of its log. */
const EXIT_MS = 5000;

/** One replica from its start or adoption to its end: its Deployment, its pod and what was seen of them. */
export class PodReplica {
  readonly record: PodReplicaRecord;
  readonly #uid: string;
  readonly #context: PodReplicaContext;
  #progress: ReplicaProgress;
  #deployment: Deployment | null = null;
  #pod: ReplicaPod | null = null;
  #pods: readonly ReplicaPod[] = [];
  /** Restarts of the container that were known when its pod was first seen. */
  #restarts: number | null;
  #isReady = false;
  #url: string;
  readonly #writer: DeploymentWriter;
  #end: ContainerEnd | null = null;
  readonly #termination: PodTermination;
  #isFinishing = false;
  #problem: string | null = null;
  readonly #tail: PodTail;
  /** Its log has been passed on, or is being so. */
  #kept: Promise<void> | null = null;
  #startupTimer: NodeJS.Timeout | undefined;
  readonly #changes: ChangeSignal;

  /** @param isNew started by this runner: its containers have not been started before */
  constructor(
    record: PodReplicaRecord,
    progress: ReplicaProgress,
    rendered: RenderedDeployment,
    { metadata }: Deployment,
    context: PodReplicaContext,
    isNew: boolean,
  ) {
    this.record = record;
    this.#progress = progress;
    this.#context = context;
    this.#tail = new PodTail(context);
    this.#termination = new PodTermination(context);
    this.#changes = new ChangeSignal(context.closed);
    this.#uid = metadata.uid!;
    const manifest = () => deploymentManifest(record, this.#progress, rendered, this.#uid);
    this.#writer = new DeploymentWriter({ ...context, name: record.id, manifest }, metadata.generation ?? 0);
    this.#restarts = isNew ? 0 : null;
    // No such host: the pod has no address yet.
    this.#url = progress.url ?? `http://${record.id}.invalid:${record.port}`;
  }

  get exit(): ReplicaExit | null {
    return this.#progress.exit;
  }

  get handle(): ReplicaHandle {
    const { endpoint, generation, id, resources, specHash, startedAt, workspace } = this.record;
    const { exit, readyAt } = this.#progress;
    const isWaiting = exit === null && !this.#isReady;
    return {
      ...{ id, workspace, endpoint, generation, specHash, phase: this.#phase, url: this.#url },
      problem: isWaiting ? replicaProblem(this.#deployment, this.#pod, this.#context.warningOf) : null,
      ...{ resources, gpus: [], startedAt, readyAt },
      exit: exit === null ? null : { ...exit, lastLines: exit.lastLines.map(this.#context.scrub) },
    };
  }

  /** Called after each change of its Deployment or of a pod. */
  observe(deployment: Deployment | undefined, pods: readonly ReplicaPod[]): void {
    if (this.#context.closed.aborted) return;
    if (deployment?.metadata.uid === this.#uid) this.#seeDeployment(deployment);
    else if (this.#deployment !== null) {
      this.#deployment = null;
      if (this.exit === null) void this.#vanished();
    }
    this.#pods = pods;
    if (this.exit === null && !this.#isFinishing) this.#seePods(pods);
    const { handle } = this;
    if (handle.problem !== null && handle.problem !== this.#problem) {
      this.#context.emit({ type: 'problem', replica: handle });
    }
    this.#problem = handle.problem;
    this.#changes.notify();
  }

  /** Applies its Deployment again: whatever was edited since is undone. */
  restore(): void {
    if (this.exit !== null || this.#context.closed.aborted) return;
    void this.#writer.write();
  }

  /** Ends it; resolves when its pod is gone, with how it ended, and its Deployment is deleted. */
  async stop({ graceMs, keepLog }: StopOptions): Promise<ReplicaExit> {
    if (this.exit === null) {
      this.terminate('stopped', graceMs);
      await this.#changes.until(() => this.exit !== null, graceMs + this.#context.killWaitMs);
    }
    if (this.exit === null) throw this.#context.closed.aborted ? runnerClosed() : podRemains(this.record.id);
    this.#kept ??= keepLog?.(this.handle, this.readLog({})) ?? null;
    await this.#kept;
    await this.#context.calls.deleteDeployment(this.record.id, this.#uid);
    return this.exit;
  }

  /** Begins to end it; a second call can only shorten the grace time. */
  terminate(reason: 'stopped' | 'startup-timeout', graceMs: number): void {
    clearTimeout(this.#startupTimer);
    this.#isReady = false;
    const termination = this.#termination;
    const isFirst = this.#progress.ending === null || !termination.isScaledDown;
    if (this.#progress.ending === null) this.#progress = { ...this.#progress, ending: reason };
    const by = Date.now() + graceMs;
    if (by >= termination.by) return;
    termination.by = by;
    if (this.#pod !== null) this.#tail.follow(this.#pod);
    void (isFirst ? this.#writer.write() : this.#writer.written).then((isApplied) => {
      termination.isScaledDown ||= isApplied;
      if (!isApplied) termination.by = Number.POSITIVE_INFINITY;
      // What was seen before the response counts again: the pod may have gone by then.
      else this.observe(this.#deployment ?? undefined, this.#pods);
    });
  }

  async *readLog({ follow = false, signal, since, tail }: LogOptions): AsyncGenerator<string> {
    const over = new AbortController();
    const ends = AbortSignal.any([over.signal, this.#context.closed, ...(signal === undefined ? [] : [signal])]);
    try {
      if (follow) await this.#changes.until(() => this.#hasLog || this.exit !== null, LONGEST_TIMER_MS, ends);
      if (this.exit !== null) {
        // Their times are not known: they were written before the end.
        const isOlder = since !== undefined && since > this.exit.at + TIME_UNIT_MS;
        yield* tail === 0 || isOlder ? [] : this.handle.exit!.lastLines.slice(-(tail ?? LOG_LINES));
        return;
      }
      if (!this.#hasLog || ends.aborted) return;
      const chunks = await this.#context.calls.podLog(this.#pod!.metadata.name, logQuery(follow, since, tail), ends);
      for await (const line of logLines(chunks)) yield this.#context.scrub(line);
      if (follow) await this.#changes.until(() => this.exit !== null, EXIT_MS, ends);
    } catch (error) {
      if (!ends.aborted && this.exit === null) throw error;
    } finally {
      over.abort();
    }
  }

  /** Resolves when what is being written has been written. */
  async release(): Promise<void> {
    clearTimeout(this.#startupTimer);
    this.#termination.close();
    this.#changes.notify();
    await this.#writer.close();
  }

  get #hasLog(): boolean {
    return this.#pod !== null && hasLog(this.#pod);
  }

  get #phase(): RunPhase {
    if (this.exit !== null) return 'exited';
    if (this.#progress.ending !== null) return 'stopping';
    if (this.#isReady) return 'ready';
    return this.#progress.readyAt === null ? 'starting' : 'unready';
  }

  #seeDeployment(deployment: Deployment): void {
    this.#deployment = deployment;
    const look = () => this.#deployment === deployment && this.#seeDeployment(deployment);
    // The generation of our own write is known with its response.
    if (this.#writer.isWriting) return void this.#writer.written.then(look);
    if (this.#context.closed.aborted || this.exit !== null) return;
    if ((deployment.metadata.generation ?? 0) <= this.#writer.generation) return;
    this.#writer.generation = deployment.metadata.generation ?? 0;
    // Another control plane, which has the lease, may be ending it.
    const ending = readDeployment(deployment)?.progress.ending ?? null;
    if (ending !== null && this.#progress.ending === null) this.#progress = { ...this.#progress, ending };
    else this.#writer.mend();
  }

  #seePods(pods: readonly ReplicaPod[]): void {
    const before = this.#pod;
    const same = pods.find(({ metadata }) => metadata.uid === before?.metadata.uid);
    const isEnding = this.#progress.ending !== null;
    if (before !== null && same === undefined && !isEnding && (this.#progress.readyAt !== null || hasLog(before))) {
      void this.#finish('ended', this.#end, goneDetail(before));
      return;
    }
    const pod = same ?? pods.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? pods[0] ?? null;
    this.#pod = pod ?? (isEnding ? before : null);
    if (pod !== null) this.#seePod(pod);
    else if (isEnding && this.#isOver) void this.#finish(this.#progress.ending!, this.#end, null);
  }

  #seePod(pod: ReplicaPod): void {
    const status = engineStatus(pod);
    // What Kubernetes has started again while no control plane was running goes on.
    this.#restarts ??= Math.max(0, (status?.restartCount ?? 0) - (status?.state?.running === undefined ? 1 : 0));
    this.#url = podUrl(pod, this.record.port) ?? this.#url;
    this.#end ??= containerEnd(pod, this.#restarts);
    if (this.#progress.ending !== null) {
      this.#termination.see(pod);
      return;
    }
    if (this.#end !== null) void this.#finish('ended', this.#end, null);
    else if (pod.metadata.deletionTimestamp !== undefined) void this.#finish('ended', null, goneDetail(pod));
    else {
      this.#watchStart(pod);
      this.#setReady(isPodReady(pod));
    }
  }

  /** Waiting for a node does not count: the cluster may have a queue. */
  #watchStart(pod: ReplicaPod): void {
    if (this.#progress.readyAt !== null || this.#startupTimer !== undefined || pod.spec.nodeName === undefined) return;
    const until = Math.max(this.record.startedAt, scheduledAt(pod)) + this.record.startupTimeoutMs;
    const end = () => this.terminate('startup-timeout', TIMEOUT_GRACE_MS);
    this.#startupTimer = setTimeout(end, Math.min(Math.max(0, until - Date.now()), LONGEST_TIMER_MS));
  }

  #setReady(isReady: boolean): void {
    if (isReady === this.#isReady) return;
    this.#isReady = isReady;
    if (isReady && this.#progress.readyAt === null) {
      clearTimeout(this.#startupTimer);
      this.#progress = { ...this.#progress, url: this.#url, readyAt: Date.now() };
      void this.#writer.write();
    }
    this.#context.emit({ type: isReady ? 'ready' : 'unready', replica: this.handle });
  }

  /** Its Deployment is no longer selected: it was deleted, or its labels were edited. */
  async #vanished(): Promise<void> {
    const found = await this.#context.calls.getDeployment(this.record.id).catch(() => null);
    if (this.#context.closed.aborted || this.exit !== null) return;
    if (found?.metadata.uid === this.#uid) await this.#writer.write();
    else await this.#finish(this.#progress.ending ?? 'ended', this.#end, 'deleted');
  }

  get #isOver(): boolean {
    const { metadata, status } = this.#deployment ?? {};
    const { isScaledDown } = this.#termination;
    if (metadata === undefined) return isScaledDown;
    return isScaledDown && (status?.observedGeneration ?? 0) >= this.#writer.generation && !status?.replicas;
  }

  async #finish(reason: ReplicaExit['reason'], end: ContainerEnd | null, detail: string | null): Promise<void> {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    this.#isReady = false;
    clearTimeout(this.#startupTimer);
    this.#termination.close();
    const lastLines = await this.#tail.read(this.#pod, end);
    if (this.#context.closed.aborted) return;
    const { at = Date.now(), code = null, signal = null } = end ?? {};
    const exit = { reason, code, signal, detail: end?.detail ?? detail, at, lastLines };
    this.#progress = { ...this.#progress, url: this.#url, exit };
    // A replica that was stopped is deleted next.
    if (reason !== 'stopped' && detail !== 'deleted') await this.#writer.write();
    this.#changes.notify();
    this.#context.emit({ type: 'exited', replica: this.handle });
  }
}
