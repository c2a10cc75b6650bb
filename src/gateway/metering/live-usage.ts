import { closeSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { UsageLines } from './usage-lines.js';
import { writeAll } from './usage-segment.js';
import { type CountedRequest, UsageTotals } from './usage-totals.js';

/** A request whose stream is under way. */
export interface LiveRequest extends CountedRequest {
  /** Names it among the requests of its run once its running sums were written; 0 before. */
  liveId: number;
}

/** Calls back with each stream under way, its sums so far and their cost. */
export type LiveRequests = (each: (request: LiveRequest, costNanos: number) => void) => void;

/** The outcome of a stream that was under way when its gateway was killed. */
const KILLED = 'the gateway was killed';

/**
 * The file with the running sums of the streams under way, which is read only when its gateway was killed. Each
 * version replaces the one before atomically. A request that is in it keeps its `liveId`, which the journal writes with
 * the final usage: the next gateway counts whichever of the two is the last.
 */
export class LiveUsage {
  readonly #path: string;
  #lastId = 0;
  /** The file exists, and may hold requests that have ended since. */
  #isThere = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes the sums of all streams under way; without any, the file is deleted. Throws when that fails. */
  write(requests: LiveRequests, day: string): void {
    const totals = new UsageTotals();
    const lines = new UsageLines();
    requests((request, costNanos) => {
      if (request.liveId === 0) request.liveId = ++this.#lastId;
      lines.request(totals, request, day, KILLED, costNanos);
    });
    if (lines.length === 0) this.remove();
    else this.#replace(lines);
  }

  /** Deletes the file. Throws when that fails. */
  remove(): void {
    if (!this.#isThere) return;
    try {
      unlinkSync(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    this.#isThere = false;
  }

  #replace({ bytes, length }: UsageLines): void {
    const beside = `${this.#path}.tmp`;
    const file = openSync(beside, 'w', 0o600);
    try {
      writeAll(file, bytes, length);
    } finally {
      closeSync(file);
    }
    renameSync(beside, this.#path);
    this.#isThere = true;
  }
}
