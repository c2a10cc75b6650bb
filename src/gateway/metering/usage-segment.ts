import { closeSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs';
import { UsageLines } from './usage-lines.js';
import { type CountedRequest, UsageTotals } from './usage-totals.js';

const NO_FILE = -1;

/**
 * A segment of the usage journal: a file with requests, and their sums in memory. When the file cannot be written the
 * sums continue without it, until it can be rewritten.
 */
export class UsageSegment {
  readonly id: string;
  readonly path: string;
  readonly totals = new UsageTotals();
  readonly #lines = new UsageLines();
  #file = NO_FILE;
  /** Bytes of whole lines in the file. */
  #size = 0;
  /** The size at which a rewrite is worthwhile. */
  #long = 0;

  constructor(path: string, id: string) {
    this.path = path;
    this.id = id;
  }

  /** Creates the file. */
  open(): void {
    this.#file = openSync(this.path, 'wx', 0o600);
  }

  /** Whether what is committed is in the file. */
  get isWritten(): boolean {
    return this.#file !== NO_FILE;
  }

  add(request: CountedRequest, day: string, costNanos: number): void {
    const { cachedTokens, inputTokens, outputTokens, reasoningTokens } = request;
    const outcome = request.cause === '' ? request.outcome : request.cause;
    if (!areWhole(inputTokens, cachedTokens, outputTokens) || !areWhole(reasoningTokens, costNanos, 0)) {
      throw new RangeError('usage must be whole numbers');
    }
    this.#lines.request(this.totals, request, day, outcome, costNanos);
  }

  /** Bytes that wait for `commit`. */
  get pending(): number {
    return this.#lines.length;
  }

  /** Writes what was added; throws when that fails, and then stops writing the file. */
  commit(): void {
    const { bytes, length } = this.#lines;
    if (length === 0) return;
    this.#lines.clear();
    if (this.#file === NO_FILE) return;
    try {
      writeAll(this.#file, bytes, length);
      this.#size += length;
    } catch (error) {
      this.#abandon();
      throw error;
    }
  }

  /**
   * Writes the sums in place of single requests, when they take more bytes than that many, or when the file is not
   * written any more. The new file replaces the old one atomically.
   */
  tidy(mostBytes: number): void {
    if (this.isWritten && this.#size < Math.max(mostBytes, this.#long)) return;
    const lines = new UsageLines();
    lines.totals(this.totals);
    const beside = `${this.path}.tmp`;
    const file = openSync(beside, 'w', 0o600);
    try {
      writeAll(file, lines.bytes, lines.length);
      renameSync(beside, this.path);
    } catch (error) {
      closeSync(file);
      throw error;
    }
    this.close();
    this.#lines.clear();
    this.#file = file;
    this.#size = lines.length;
    this.#long = 2 * lines.length;
  }

  close(): void {
    if (this.#file !== NO_FILE) closeSync(this.#file);
    this.#file = NO_FILE;
  }

  /** Truncates the file to complete lines, if possible. */
  #abandon(): void {
    try {
      ftruncateSync(this.#file, this.#size);
    } catch {
      // A line without an end does not count either.
    }
    this.close();
  }
}

function areWhole(one: number, two: number, three: number): boolean {
  return isWhole(one) && isWhole(two) && isWhole(three);
}

function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

export function writeAll(file: number, bytes: Buffer, length: number): void {
  for (let done = 0; done < length; ) done += writeSync(file, bytes, done, length - done);
}
