import type { ResponseProblem } from '../client/response-problem.js';

/** The outcome of each request, by row of the plan's table. Times are microseconds from the beginning; NaN: never. */
export class RequestRecords {
  /** The place of the row among all that were sent, from 0; -1 if it was not. */
  order = new Int32Array(0);
  sentUs = new Float64Array(0);
  firstUs = new Float64Array(0);
  lastUs = new Float64Array(0);
  latenessUs = new Float64Array(0);
  capWaitUs = new Float64Array(0);
  connectUs = new Float64Array(0);
  chunks = new Int32Array(0);
  /** As counted by the server; -1: not reported. */
  inputTokens = new Int32Array(0);
  cachedTokens = new Int32Array(0);
  outputTokens = new Int32Array(0);
  /** The response is complete. */
  isComplete = new Uint8Array(0);
  readonly finishReason: string[] = [];
  readonly problems = new Map<number, ResponseProblem>();
  #capacity = 0;

  /** Grows the columns to this many rows. */
  reserve(rows: number): void {
    if (rows <= this.#capacity) return;
    const from = this.#capacity;
    this.#capacity = Math.max(rows, from * 2, 64);
    const longer = (old: Float64Array) => {
      const next = new Float64Array(this.#capacity).fill(Number.NaN, from);
      next.set(old);
      return next;
    };
    const longerCounts = (old: Int32Array, unknown: number) => {
      const next = new Int32Array(this.#capacity).fill(unknown, from);
      next.set(old);
      return next;
    };
    this.order = longerCounts(this.order, -1);
    this.sentUs = longer(this.sentUs);
    this.firstUs = longer(this.firstUs);
    this.lastUs = longer(this.lastUs);
    this.latenessUs = longer(this.latenessUs);
    this.capWaitUs = longer(this.capWaitUs);
    this.connectUs = longer(this.connectUs);
    this.chunks = longerCounts(this.chunks, 0);
    this.inputTokens = longerCounts(this.inputTokens, -1);
    this.cachedTokens = longerCounts(this.cachedTokens, -1);
    this.outputTokens = longerCounts(this.outputTokens, -1);
    const complete = new Uint8Array(this.#capacity);
    complete.set(this.isComplete);
    this.isComplete = complete;
  }
}
