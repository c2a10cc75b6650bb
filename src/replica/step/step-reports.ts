import { EventFifo } from '../../kernel/events/event-fifo.js';
import type { RunningBatch } from '../batch/running-batch.js';
import type { BlockPool } from '../kv/block-pool.js';
import type { ReplicaEvents, ReplicaRequests } from '../replica-requests.js';
import { STATUS } from '../request-outcomes.js';

/**
 * What a replica reports to its router of the running step: at its start, as soon as it is known, or at its end, as a real
 * engine does (`EngineRules.reportsStepEnds`). Reports wait for the end of one step only, so they are in order of time.
 */
export class StepReports {
  readonly #batch: RunningBatch;
  readonly #pool: BlockPool;
  readonly #atEnd: boolean;
  readonly #requests: ReplicaRequests;
  readonly #events: ReplicaEvents;
  /** Twice the row, and one more for a departure. */
  readonly #waiting = new EventFifo();
  /** Requests whose departure waits, and the blocks that they hold until then. */
  #leaving = 0;
  #leavingBlocks = 0;

  constructor(batch: RunningBatch, pool: BlockPool, requests: ReplicaRequests, events: ReplicaEvents, atEnd: boolean) {
    this.#batch = batch;
    this.#pool = pool;
    this.#requests = requests;
    this.#events = events;
    this.#atEnd = atEnd;
  }

  /** Requests in the batch, as the engine would report them. */
  get running(): number {
    return this.#batch.size + this.#leaving;
  }

  /** Blocks in use, as the engine would report them. */
  get usedBlocks(): number {
    return this.#pool.used + this.#leavingBlocks;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** When the next report is due; Infinity when none is. */
  get nextUs(): number {
    return this.#waiting.nextUs;
  }

  isDue(atUs: number): boolean {
    return this.#waiting.size > 0 && this.#waiting.nextUs === atUs;
  }

  /** The request gets its first token at the end of the running step. */
  firstToken(row: number, endUs: number): void {
    if (this.#atEnd) this.#waiting.push(endUs, row * 2);
    else this.#events.firstToken(row, endUs);
  }

  /** The request is complete at the end of the running step, and releases this many blocks. */
  left(row: number, endUs: number, blocks: number): void {
    if (!this.#atEnd) {
      this.#events.left(row, true, endUs);
      return;
    }
    this.#waiting.push(endUs, row * 2 + 1);
    this.#leaving++;
    this.#leavingBlocks += blocks;
  }

  /** Reports the step that ends now. A request that was lost during it has been reported as lost. */
  deliver(nowUs: number): void {
    const { status } = this.#requests.outcomes;
    this.#leaving = 0;
    this.#leavingBlocks = 0;
    while (this.#waiting.nextUs === nowUs) {
      const report = this.#waiting.pop();
      const row = report >> 1;
      if ((report & 1) === 1) this.#events.left(row, true, nowUs);
      else if (status[row] !== STATUS.timed_out) this.#events.firstToken(row, nowUs);
    }
  }
}
