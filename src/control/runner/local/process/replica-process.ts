import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { allProcesses, type FoundProcess, isRunning, type ProcessIdentity } from './process-table.js';

/** How a process ended; both null when that is not known. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Poll interval for a process that is not a child of this one, in milliseconds. */
const LOOK_MS = 100;
/** Poll intervals for processes that the leader left behind: short at first, then longer. */
const FIRST_LOOK_MS = 10;
const LAST_LOOK_MS = 200;

/**
 * The processes of a replica: a leader, and the processes it has started. The leader is a child of this process, or of an earlier
 * control plane. When it has ended, processes that it left behind are ended too: they could still hold a GPU.
 */
export class ReplicaProcess {
  readonly identity: ProcessIdentity;
  /** Resolves when the leader has ended and no process is left. */
  readonly gone: Promise<ProcessEnd>;
  readonly #folder: string;
  readonly #child: ChildProcess | null;
  #killAt: number | null = null;
  #killTimer: NodeJS.Timeout | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
  #isLeaderGone = false;
  #isGone = false;
  #isForgotten = false;

  /**
   * @param folder of the replica, by which processes outside the group are recognised
   * @param child the child process, or null for one that was found again
   */
  constructor(identity: ProcessIdentity, folder: string, child: ChildProcess | null) {
    this.identity = identity;
    this.#folder = folder;
    this.#child = child;
    this.gone = this.#leaderEnd().then(async (end) => {
      this.#isLeaderGone = true;
      await this.#endRest();
      clearTimeout(this.#killTimer);
      this.#isGone = true;
      return end;
    });
  }

  /** Sends SIGTERM, and SIGKILL after the grace time. A second call can only shorten the grace time. */
  terminate(graceMs: number): void {
    if (this.#isGone) return;
    if (this.#killAt === null && graceMs > 0) this.#signal('SIGTERM');
    const now = Date.now();
    this.#killAt = Math.min(now + graceMs, this.#killAt ?? Number.POSITIVE_INFINITY);
    clearTimeout(this.#killTimer);
    this.#killTimer = setTimeout(() => this.#signal('SIGKILL'), this.#killAt - now);
  }

  /** Stops watching; the processes live on. */
  forget(): void {
    this.#isForgotten = true;
    clearTimeout(this.#killTimer);
    clearInterval(this.#lookTimer);
    this.#child?.unref();
  }

  /** All running processes: the leader, its group and its session, and those that left both. */
  async members(): Promise<number[]> {
    return (await this.#found()).map(({ pid }) => pid);
  }

  #leaderEnd(): Promise<ProcessEnd> {
    const child = this.#child;
    return new Promise((resolve) => {
      if (child === null) {
        const look = () => {
          if (isRunning(this.identity)) return;
          clearInterval(this.#lookTimer);
          resolve({ code: null, signal: null });
        };
        this.#lookTimer = setInterval(look, LOOK_MS);
      } else child.once('exit', (code, signal) => resolve({ code, signal }));
    });
  }

  /** Signals the whole group. The group id is certain to be its own only while the leader runs. */
  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (!this.#isLeaderGone && isRunning(this.identity)) sendSignal(-this.identity.pid, signal);
  }

  async #endRest(): Promise<void> {
    const signalled = new Set<number>();
    for (let pauseMs = FIRST_LOOK_MS; !this.#isForgotten; pauseMs = Math.min(2 * pauseMs, LAST_LOOK_MS)) {
      const rest = await this.#found();
      if (rest.length === 0) return;
      for (const { group, pid } of rest) {
        // After a stop, the others get the rest of the grace time; after a crash, orphans are killed at once.
        if (this.#killAt === null || Date.now() >= this.#killAt) sendSignal(pid, 'SIGKILL');
        // The group has had its SIGTERM, and some programs take a second one as a reason to abort.
        else if (group !== this.identity.pid && !signalled.has(pid)) sendSignal(pid, 'SIGTERM');
        signalled.add(pid);
      }
      await delay(pauseMs);
    }
  }

  async #found(): Promise<FoundProcess[]> {
    const { pid: leader } = this.identity;
    return (await allProcesses()).filter(
      ({ folders, group, session }) => group === leader || session === leader || folders.includes(this.#folder),
    );
  }
}

/** Signals a process, or with a negative number a group. One that has ended is ignored. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to another user.
  }
}
