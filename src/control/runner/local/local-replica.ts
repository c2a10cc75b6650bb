import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExitReason, ReplicaExit, ReplicaHandle, RunnerEvent, RunPhase, StopOptions } from '../contract.js';
import { runnerClosed, unrotatedLog, unwrittenRecord, willNotEnd } from '../errors.js';
import { Readiness, type ReadinessTiming, responds } from '../readiness.js';
import { ReplicaLog } from './log/replica-log.js';
import type { Scrub } from './log/shown-line.js';
import { ownsPort } from './process/owns-port.js';
import type { PortBook } from './process/port-book.js';
import { isRunning } from './process/process-table.js';
import type { ProcessEnd, ReplicaProcess } from './process/replica-process.js';
import { type ReplicaRecord, writeRecord } from './replica-record.js';
import { LOCAL_HOST, type StartedReplica } from './start-replica.js';

/** What all replicas of a runner share. */
export interface ReplicaContext {
  readonly ports: PortBook;
  readonly timing: ReadinessTiming;
  readonly mostLogBytes: number;
  readonly killWaitMs: number;
  readonly scrub: Scrub;
  readonly emit: (event: RunnerEvent) => void;
  readonly onFault: (error: Error) => void;
}

/** How often an engine is started at most when another program takes its port first. */
const MOST_STARTS = 4;
const PORT_CONFLICT = /EADDRINUSE|address (is )?already in use|errno 98\b/i;
/** Lines of the log that are kept with an exit. */
const LAST_LINES = 20;
/** Lines of the log of a removed replica that are passed on. */
const KEPT_LINES = 10_000;
/** Grace time of a replica that was not ready in time. */
const TIMEOUT_GRACE_MS = 2000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One replica from its start or adoption to its end: process, readiness, log and record. */
export class LocalReplica {
  readonly log: ReplicaLog;
  readonly folder: string;
  readonly #context: ReplicaContext;
  readonly #startAgain: (() => Promise<StartedReplica>) | null;
  readonly #ended: Promise<void>;
  #resolveEnded!: () => void;
  #record: ReplicaRecord;
  #process: ReplicaProcess | null = null;
  #readiness: Readiness | null = null;
  #startupTimer: NodeJS.Timeout | undefined;
  #starts = 1;
  /** Why it is being stopped, and its deadline. */
  #ending: { readonly reason: ExitReason; readonly byMs: number } | null = null;
  #isReleased = false;
  #isLogStuck = false;
  #removal: Promise<void> | null = null;
  /** Runs from the end of the process until the replica has exited or has been started again. */
  #afterwards: Promise<void> | null = null;

  /** @param startAgain on another port; null for an adopted replica, whose command is not known */
  constructor(
    folder: string,
    record: ReplicaRecord,
    context: ReplicaContext,
    startAgain: (() => Promise<StartedReplica>) | null,
  ) {
    this.folder = folder;
    this.log = new ReplicaLog(folder, context.mostLogBytes, context.scrub);
    this.log.isOver = record.exit !== null;
    this.#record = record;
    this.#context = context;
    this.#startAgain = startAgain;
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get exit(): ReplicaExit | null {
    return this.#record.exit;
  }

  get handle(): ReplicaHandle {
    const { endpoint, exit, generation, gpus, id, readyAt, resources, specHash } = this.#record;
    // Secrets may have become known since it ended.
    const scrubbed = exit === null ? null : { ...exit, lastLines: exit.lastLines.map(this.#context.scrub) };
    return {
      ...{ id, workspace: this.#record.workspace, endpoint, generation, specHash },
      ...{ phase: this.#phase, url: this.#url, problem: null, resources, gpus },
      ...{ startedAt: this.#record.startedAt, readyAt, exit: scrubbed },
    };
  }

  /** Watches its process from now on; resolves after the first readiness check. */
  watch(process: ReplicaProcess): Promise<void> {
    const { healthPath, readyAt, startedAt, startupTimeoutMs } = this.#record;
    const { timing } = this.#context;
    this.#process = process;
    void process.gone.then((end) => {
      if (!this.#isReleased) this.#afterwards = this.#gone(end);
    });
    if (readyAt === null) {
      const leftMs = Math.max(0, startedAt + startupTimeoutMs - Date.now());
      const end = () => this.#end('startup-timeout', TIMEOUT_GRACE_MS);
      this.#startupTimer = setTimeout(end, Math.min(leftMs, LONGEST_TIMER_MS));
    }
    const readiness = new Readiness(
      async () => (await responds(`${this.#url}${healthPath}`, timing.timeoutMs)) && this.#isItself(readiness.isReady),
      timing,
      (isReady) => this.#readinessChanged(isReady),
    );
    this.#readiness = readiness;
    return readiness.start();
  }

  /** Ends it; resolves when no process of it is left. */
  async stop(graceMs: number): Promise<ReplicaExit> {
    if (this.exit === null) {
      this.#end('stopped', graceMs);
      const over = new AbortController();
      const late = delay(graceMs + this.#context.killWaitMs, undefined, { signal: over.signal }).catch(() => {});
      await Promise.race([this.#ended, late]);
      over.abort();
    }
    if (this.exit === null) throw this.#isReleased ? runnerClosed() : willNotEnd(this.#record.id);
    return this.exit;
  }

  /** Removes its folder. Of several calls, the first passes the log on. */
  remove(keepLog: StopOptions['keepLog']): Promise<void> {
    this.#removal ??= this.#remove(keepLog).catch((error: unknown) => {
      this.#removal = null;
      throw error;
    });
    return this.#removal;
  }

  /** Stops watching; its process keeps running. */
  async release(): Promise<void> {
    this.#isReleased = true;
    this.log.isReleased = true;
    this.#stopWatching();
    this.#process?.forget();
    this.#resolveEnded();
    await this.#afterwards;
  }

  tendLog(): void {
    try {
      this.log.tend();
      this.#isLogStuck = false;
    } catch (error) {
      if (!this.#isLogStuck) this.#context.onFault(unrotatedLog(this.log.path, error));
      this.#isLogStuck = true;
    }
  }

  get #url(): string {
    return `http://${LOCAL_HOST}:${this.#record.port}`;
  }

  get #phase(): RunPhase {
    if (this.exit !== null) return 'exited';
    if (this.#ending !== null) return 'stopping';
    if (this.#readiness?.isReady) return 'ready';
    return this.#record.readyAt === null ? 'starting' : 'unready';
  }

  async #remove(keepLog: StopOptions['keepLog']): Promise<void> {
    await keepLog?.(this.handle, this.log.read({ tail: KEPT_LINES }));
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Whether the replica itself listens on its port; checked until it is ready. */
  async #isItself(isKnown: boolean): Promise<boolean> {
    const process = this.#process!;
    if (!isKnown && !(await ownsPort(this.#record.port, await process.members()))) return false;
    return isRunning(process.identity);
  }

  #readinessChanged(isReady: boolean): void {
    clearTimeout(this.#startupTimer);
    if (this.#record.readyAt === null) this.#update({ readyAt: Date.now() });
    this.#emit(isReady ? 'ready' : 'unready');
  }

  #end(reason: ExitReason, graceMs: number): void {
    const byMs = Date.now() + graceMs;
    this.#stopWatching();
    if (this.#ending === null) {
      this.#ending = { reason, byMs };
      this.#update({ step: 'stopping' });
    } else if (byMs < this.#ending.byMs) this.#ending = { ...this.#ending, byMs };
    this.#process?.terminate(graceMs);
  }

  #stopWatching(): void {
    this.#readiness?.stop();
    clearTimeout(this.#startupTimer);
  }

  async #gone(end: ProcessEnd): Promise<void> {
    this.#stopWatching();
    this.tendLog();
    const lastLines = await this.log.last(LAST_LINES).catch(() => []);
    this.#context.ports.release(this.#record.port);
    if (this.#lostItsPort(lastLines) && (await this.#restarted())) return;
    const reason = this.#ending?.reason ?? 'ended';
    this.log.isOver = true;
    this.#update({ step: 'exited', exit: { reason, ...end, detail: null, at: Date.now(), lastLines } });
    this.#resolveEnded();
    this.#emit('exited');
  }

  #lostItsPort(lastLines: readonly string[]): boolean {
    if (this.#startAgain === null || this.#starts === MOST_STARTS) return false;
    if (this.#ending !== null || this.#record.readyAt !== null) return false;
    return lastLines.some((line) => PORT_CONFLICT.test(line));
  }

  async #restarted(): Promise<boolean> {
    this.#starts++;
    let started: StartedReplica;
    try {
      started = await this.#startAgain!();
    } catch {
      return false;
    }
    this.#record = started.record;
    if (this.#isReleased) {
      started.process.forget();
      return true;
    }
    void this.watch(started.process);
    this.#emit('started');
    // It may have been stopped while it had no process.
    if (this.#ending !== null) {
      this.#update({ step: 'stopping' });
      this.#end(this.#ending.reason, Math.max(0, this.#ending.byMs - Date.now()));
    }
    return true;
  }

  #update(changes: Partial<ReplicaRecord>): void {
    this.#record = { ...this.#record, ...changes };
    try {
      writeRecord(this.folder, this.#record);
    } catch (error) {
      this.#context.onFault(unwrittenRecord(this.#record.id, error));
    }
  }

  #emit(type: RunnerEvent['type']): void {
    this.#context.emit({ type, replica: this.handle });
  }
}
