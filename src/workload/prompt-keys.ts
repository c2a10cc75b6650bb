import { RunError } from '../kernel/errors.js';
import { type RequestTable, ROW_GROWS_CONTEXT } from './request-table.js';

const UNSET = -1;
const MAX_KEY = 2 ** 31 - 1;

/**
 * The identity of prompts, block by block: two prompts hold the same content in blocks 0..i exactly when their keys at i
 * are equal. Keys are not hashes: a group's prefix and a request's own tokens (or a growing chat's) each reserve a range
 * of numbers, so that a key is a base plus the block's index.
 */
export class PromptKeys {
  readonly #table: RequestTable;
  readonly #blockSize: number;
  #rowBase = new Int32Array(0);
  readonly #groupBase: number[] = [];
  readonly #sessionBase: number[] = [];
  #next = 0;

  constructor(table: RequestTable, blockSize: number) {
    this.#table = table;
    this.#blockSize = blockSize;
  }

  /** Writes the keys of the row's blocks 0..blocks-1. */
  fill(row: number, blocks: number, out: Int32Array): void {
    const group = this.#table.prefixGroup[row]!;
    let shared = 0;
    if (group !== 0) {
      shared = Math.min(blocks, Math.floor(this.#table.prefixTokens[group]! / this.#blockSize));
      const base = (this.#groupBase[group] ??= this.#reserve(this.#table.prefixTokens[group]!));
      for (let i = 0; i < shared; i++) out[i] = base + i;
    }
    if (shared === blocks) return;
    const base = this.#ownBase(row);
    for (let i = shared; i < blocks; i++) out[i] = base + i;
  }

  #ownBase(row: number): number {
    const table = this.#table;
    if ((table.flags[row]! & ROW_GROWS_CONTEXT) !== 0) {
      const session = table.session[row]!;
      return (this.#sessionBase[session] ??= this.#reserve(table.contextTokens[session]!));
    }
    if (row >= this.#rowBase.length) {
      const grown = new Int32Array(Math.max(row + 1, table.count, this.#rowBase.length * 2)).fill(UNSET);
      grown.set(this.#rowBase);
      this.#rowBase = grown;
    }
    if (this.#rowBase[row] === UNSET) this.#rowBase[row] = this.#reserve(table.inputTokens[row]!);
    return this.#rowBase[row]!;
  }

  #reserve(tokens: number): number {
    const base = this.#next;
    this.#next += Math.floor(tokens / this.#blockSize);
    if (this.#next > MAX_KEY) {
      throw new RunError('TOO_MANY_BLOCKS', 'the workload has more than 2^31 prompt blocks; use larger blocks or a shorter trace');
    }
    return base;
  }
}
