import { PromptKeys } from '../../prompt-keys.js';
import type { RequestTable } from '../../request-table.js';

/** The blocks of prompts that another prompt may have too, as keys: equal keys are equal up to and including that block. */
export class SharedBlocks {
  /** Those of the last row. */
  keys: Int32Array = new Int32Array(1024);
  readonly blockSize: number;
  readonly #table: RequestTable;
  readonly #promptKeys: PromptKeys;

  constructor(table: RequestTable, blockSize: number) {
    this.blockSize = blockSize;
    this.#table = table;
    this.#promptKeys = new PromptKeys(table, blockSize);
  }

  /** All keys so far are below this number. */
  get keyLimit(): number {
    return this.#promptKeys.keyLimit;
  }

  /** Full blocks of the row's prompt. */
  full(row: number): number {
    return Math.floor(this.#table.inputTokens[row]! / this.blockSize);
  }

  /** Writes the keys of the row's leading blocks that other rows share; returns their number. */
  fill(row: number): number {
    const shared = this.#promptKeys.shared(row, this.full(row));
    if (shared > this.keys.length) this.keys = new Int32Array(shared * 2);
    this.#promptKeys.fill(row, shared, this.keys);
    return shared;
  }
}
