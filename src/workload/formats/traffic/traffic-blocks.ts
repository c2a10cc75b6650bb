import { PromptBlocks } from '../../prompt-blocks.js';
import type { RequestTable } from '../../request-table.js';
import { IdNumbers } from './id-numbers.js';

/** The size of a block, known once everything is read. */
export interface SettledBlocks {
  /** Tokens of a block by the gateway's count, and by the engines' count. */
  recordedTokens: number;
  tokens: number;
}

/**
 * The blocks of recorded prompts, collected until the last line: only then the number of tokens per block is known. A
 * gateway counts four bytes as a token, engines count the real tokens; the ratio over many prompts gives the size.
 */
export class TrafficBlocks {
  readonly #numbers = new IdNumbers();
  /**
   * The blocks of all rows in sequence, and by row where they end and how many tokens each had by the gateway's count.
   */
  #blocks = new Int32Array(1024);
  readonly #ends: number[] = [];
  readonly #sizes: number[] = [];
  #length = 0;

  /** Adds a block to the row being read. */
  add(id: string): void {
    if (this.#length === this.#blocks.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#blocks);
      this.#blocks = larger;
    }
    this.#blocks[this.#length++] = this.#numbers.of(id);
  }

  /** The row has the blocks that were added since the last one. Rows come in order. */
  endRow(size: number): void {
    this.#ends.push(this.#length);
    this.#sizes.push(size);
  }

  /**
   * Sets the blocks of the table; null when there are none.
   * @param order by row of the table, the row that was read
   * @param isCounted whether an engine counted the tokens of a row that was read
   */
  settle(table: RequestTable, order: Int32Array, isCounted: (row: number) => boolean): SettledBlocks | null {
    if (this.#length === 0) return null;
    const unit = this.#commonSize();
    const tokens = Math.max(1, Math.round(unit * this.#engineTokens(table, order, isCounted)));
    const blocks = new PromptBlocks(tokens);
    for (let row = 0; row < table.count; row++) {
      const source = order[row]!;
      if (!isCounted(source)) table.inputTokens[row] = Math.round((table.inputTokens[row]! / unit) * tokens);
      const parts = this.#sizes[source]! / unit;
      let room = Math.ceil(table.inputTokens[row]! / tokens);
      // A block of several units is as many blocks: chained, the same id after itself is another block.
      for (let i = this.#begin(source) * parts; i < this.#ends[source]! * parts && room > 0; i++, room--) {
        blocks.add(this.#blocks[Math.floor(i / parts)]!);
      }
      blocks.endRow(row);
    }
    table.blocks = blocks;
    return { recordedTokens: unit, tokens };
  }

  #begin(row: number): number {
    return row === 0 ? 0 : this.#ends[row - 1]!;
  }

  /** Of gateways with different settings: the largest size that all sizes are multiples of. */
  #commonSize(): number {
    let common = 0;
    for (let row = 0; row < this.#sizes.length; row++) {
      if (this.#ends[row]! > this.#begin(row)) common = greatestDivisor(this.#sizes[row]!, common);
    }
    return common;
  }

  /** Tokens by the engines' count per token of the gateway: 1 when no prompt shows otherwise. */
  #engineTokens({ count, inputTokens }: RequestTable, order: Int32Array, isCounted: (row: number) => boolean): number {
    let counted = 0;
    let estimated = 0;
    let isEqual = true;
    for (let row = 0; row < count; row++) {
      const source = order[row]!;
      const size = this.#sizes[source]!;
      // Only the full blocks of a prompt are known; the remainder is half a block on average.
      const least = (this.#ends[source]! - this.#begin(source)) * size;
      if (least === 0 || !isCounted(source)) continue;
      const tokens = inputTokens[row]!;
      if (tokens < least || tokens > least + size) isEqual = false;
      counted += tokens;
      estimated += least + size / 2;
    }
    return isEqual ? 1 : counted / estimated;
  }
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
