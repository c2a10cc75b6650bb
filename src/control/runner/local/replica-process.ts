import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { allProcesses, type FoundProcess, isRunning, type ProcessIdentity } from './process-table.js';

/** How a process ended; both null when that is not known. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** How often a process that is not our child is looked at, in milliseconds. */
const LOOK_MS = 100;
/** How often those are looked for that a leader left behind: soon at first, then less and less. */
const FIRST_LOOK_MS = 10;
const LAST_LOOK_MS = 200;

/**
 * The processes of a replica: a leader, and whatever it has started. The leader is a child of ours, or was one of an earlier
 * control plane. When it has ended, those that it left behind are ended too: they could still hold a GPU.
 */
export class ReplicaProcess {
  readonly identity: ProcessIdentity;
  /** Resolves when the leader has ended and nobody is left. */
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
   * @param folder the replica's, by which those are known that left the group
   * @param child just made, or null for one that was found
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

  /** Asks all to end, and ends them by force after so many milliseconds. Asked for again, it can only come sooner. */
  terminate(graceMs: number): void {
    if (this.#isGone) return;
    if (this.#killAt === null && graceMs > 0) this.#signal('SIGTERM');
    const now = Date.now();
    this.#killAt = Math.min(now + graceMs, this.#killAt ?? Number.POSITIVE_INFINITY);
    clearTimeout(this.#killTimer);
    this.#killTimer = setTimeout(() => this.#signal('SIGKILL'), this.#killAt - now);
  }

  /** Looks no more; the processes live on. */
  forget(): void {
    this.#isForgotten = true;
    clearTimeout(this.#killTimer);
    clearInterval(this.#lookTimer);
    this.#child?.unref();
  }

  /** All that run: the leader, its group and its session, and those that left both. */
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

  /** To the whole group at once. Only while its leader runs is the number of the group surely its own. */
  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (!this.#isLeaderGone && isRunning(this.identity)) send(-this.identity.pid, signal);
  }

  async #endRest(): Promise<void> {
    const asked = new Set<number>();
    for (let pauseMs = FIRST_LOOK_MS; !this.#isForgotten; pauseMs = Math.min(2 * pauseMs, LAST_LOOK_MS)) {
      const rest = await this.#found();
      if (rest.length === 0) return;
      for (const { group, pid } of rest) {
        // A leader may end before those have done so that were asked with it; one that crashed left orphans.
        if (this.#killAt === null || Date.now() >= this.#killAt) send(pid, 'SIGKILL');
        // The others of the group have been asked, and some take a second time for impatience.
        else if (group !== this.identity.pid && !asked.has(pid)) send(pid, 'SIGTERM');
        asked.add(pid);
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

/** Signals a process, or with a negative number a group. Who is gone already need not be told. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone, or never ours.
  }
}
