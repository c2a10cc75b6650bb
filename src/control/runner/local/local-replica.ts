import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExitReason, ReplicaExit, ReplicaHandle, ReplicaPhase, RunnerEvent } from '../contract.js';
import { runnerClosed, unkeptRecord, unrotatedLog, willNotEnd } from '../errors.js';
import { ownsPort } from './owns-port.js';
import type { PortBook } from './port-book.js';
import { isRunning } from './process-table.js';
import { Readiness, type ReadinessTiming, responds } from './readiness.js';
import { ReplicaLog } from './replica-log.js';
import type { ProcessEnd, ReplicaProcess } from './replica-process.js';
import { type ReplicaRecord, writeRecord } from './replica-record.js';
import type { StartedReplica } from './start-replica.js';

/** What all replicas of a runner share. */
export interface ReplicaSurroundings {
  readonly ports: PortBook;
  readonly timing: ReadinessTiming;
  readonly mostLogBytes: number;
  readonly killWaitMs: number;
  readonly tell: (event: RunnerEvent) => void;
  readonly onFault: (error: Error) => void;
}

/** How often an engine is started at most, when somebody else was faster than it on the port it got. */
const MOST_STARTS = 4;
const PORT_CONFLICT = /EADDRINUSE|address (is )?already in use|errno 98\b/i;
/** Lines of the log that go with an exit. */
const LAST_LINES = 20;
/** How long an engine that was not ready in time has to end by itself. */
const TIMEOUT_GRACE_MS = 2000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One replica: its process, whether it is ready, its log and its record, from its start or its adoption to its end. */
export class LocalReplica {
  readonly log: ReplicaLog;
  readonly folder: string;
  readonly #surroundings: ReplicaSurroundings;
  readonly #startAgain: (() => Promise<StartedReplica>) | null;
  readonly #over: Promise<void>;
  #resolveOver!: () => void;
  #record: ReplicaRecord;
  #process: ReplicaProcess | null = null;
  #readiness: Readiness | null = null;
  #startupTimer: NodeJS.Timeout | undefined;
  #starts = 1;
  /** Why it was told to end, and by when it has to. */
  #ending: { readonly reason: ExitReason; readonly byMs: number } | null = null;
  #isLetGo = false;
  #isLogStuck = false;
  /** What is under way from the end of its process to its own end or to its next start. */
  #afterwards: Promise<void> | null = null;

  /** @param startAgain on another port; null if there is no other */
  constructor(
    folder: string,
    record: ReplicaRecord,
    surroundings: ReplicaSurroundings,
    startAgain: (() => Promise<StartedReplica>) | null,
  ) {
    this.folder = folder;
    this.log = new ReplicaLog(folder, surroundings.mostLogBytes);
    this.log.isOver = record.exit !== null;
    this.#record = record;
    this.#surroundings = surroundings;
    this.#startAgain = startAgain;
    this.#over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
  }

  get exit(): ReplicaExit | null {
    return this.#record.exit;
  }

  get handle(): ReplicaHandle {
    const { endpoint, exit, generation, gpus, id, port, process, readyAt, resources, specHash } = this.#record;
    return {
      ...{ id, workspace: this.#record.workspace, endpoint, generation, specHash },
      ...{ phase: this.#phase, url: this.#url, port, pid: process.pid, resources, gpus },
      ...{ startedAt: this.#record.startedAt, readyAt, exit },
    };
  }

  /** Takes care of its process from now on; resolves when it has been asked once whether it is ready. */
  watch(process: ReplicaProcess): Promise<void> {
    const { healthPath, readyAt, startedAt, startupTimeoutMs } = this.#record;
    const { timing } = this.#surroundings;
    this.#process = process;
    void process.gone.then((end) => {
      if (!this.#isLetGo) this.#afterwards = this.#gone(end);
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

  /** Ends it; resolves when nothing of it runs. */
  async stop(graceMs: number): Promise<ReplicaExit> {
    if (this.exit === null) {
      this.#end('stopped', graceMs);
      const over = new AbortController();
      const late = delay(graceMs + this.#surroundings.killWaitMs, undefined, { signal: over.signal }).catch(() => {});
      await Promise.race([this.#over, late]);
      over.abort();
    }
    if (this.exit === null) throw this.#isLetGo ? runnerClosed() : willNotEnd(this.#record.id);
    return this.exit;
  }

  /** Removes what is left of it on the disk. */
  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Looks no more; its process lives on. */
  async letGo(): Promise<void> {
    this.#isLetGo = true;
    this.log.isOver = true;
    this.#quiet();
    this.#process?.forget();
    this.#resolveOver();
    await this.#afterwards;
  }

  rotateLog(): void {
    try {
      this.log.rotateIfLong();
      this.#isLogStuck = false;
    } catch (error) {
      if (!this.#isLogStuck) this.#surroundings.onFault(unrotatedLog(this.log.path, error));
      this.#isLogStuck = true;
    }
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#record.port}`;
  }

  get #phase(): ReplicaPhase {
    if (this.exit !== null) return 'exited';
    if (this.#ending !== null) return 'stopping';
    if (this.#readiness?.isReady) return 'ready';
    return this.#record.readyAt === null ? 'starting' : 'unready';
  }

  /** Whether it is the replica that answers on its port: before it is called ready this is looked into. */
  async #isItself(isKnown: boolean): Promise<boolean> {
    const process = this.#process!;
    if (!isKnown && !(await ownsPort(this.#record.port, await process.members()))) return false;
    return isRunning(process.identity);
  }

  #readinessChanged(isReady: boolean): void {
    clearTimeout(this.#startupTimer);
    if (this.#record.readyAt === null) this.#keep({ readyAt: Date.now() });
    this.#tell(isReady ? 'ready' : 'unready');
  }

  #end(reason: ExitReason, graceMs: number): void {
    const byMs = Date.now() + graceMs;
    this.#quiet();
    if (this.#ending === null) {
      this.#ending = { reason, byMs };
      this.#keep({ step: 'stopping' });
    } else if (byMs < this.#ending.byMs) this.#ending = { ...this.#ending, byMs };
    this.#process?.terminate(graceMs);
  }

  /** Asks nothing more and waits for nothing more. */
  #quiet(): void {
    this.#readiness?.stop();
    clearTimeout(this.#startupTimer);
  }

  async #gone(end: ProcessEnd): Promise<void> {
    this.#quiet();
    const lastLines = await this.log.last(LAST_LINES).catch(() => []);
    this.#surroundings.ports.release(this.#record.port);
    if (this.#lostItsPort(lastLines) && (await this.#restarted())) return;
    const reason = this.#ending?.reason ?? 'ended';
    this.log.isOver = true;
    this.#keep({ step: 'exited', exit: { reason, ...end, at: Date.now(), lastLines } });
    this.#resolveOver();
    this.#tell('exited');
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
    if (this.#isLetGo) {
      started.process.forget();
      return true;
    }
    void this.watch(started.process);
    this.#tell('started');
    // It may have been told to end while it had no process.
    if (this.#ending !== null) {
      this.#keep({ step: 'stopping' });
      this.#end(this.#ending.reason, Math.max(0, this.#ending.byMs - Date.now()));
    }
    return true;
  }

  #keep(changes: Partial<ReplicaRecord>): void {
    this.#record = { ...this.#record, ...changes };
    try {
      writeRecord(this.folder, this.#record);
    } catch (error) {
      this.#surroundings.onFault(unkeptRecord(this.#record.id, error));
    }
  }

  #tell(type: RunnerEvent['type']): void {
    this.#surroundings.tell({ type, replica: this.handle });
  }
}
