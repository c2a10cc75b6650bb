import type { PromptBlocks } from '../prompt-blocks.js';
import type { RequestTable } from '../request-table.js';

/** How many of a session's latest prompts are compared: agents return to a recent context, not to any earlier one. */
const LAST_PROMPTS = 8;

/** The prompts so far, to find the one that a new prompt continues. */
export class EarlierPrompts {
  readonly #table: RequestTable;
  readonly #blocks: PromptBlocks;
  /** By block: the last row outside sessions that had it. */
  readonly #lastRow: Int32Array;
  /** By session: its last rows, latest first. */
  readonly #ofSession: number[][] = [];

  constructor(table: RequestTable, blocks: PromptBlocks) {
    this.#table = table;
    this.#blocks = blocks;
    this.#lastRow = new Int32Array(blocks.count).fill(-1);
  }

  add(row: number): void {
    const blocks = this.#blocks;
    const session = this.#table.session[row]!;
    if (session === 0) {
      for (let i = blocks.blocksOf(row) - 1; i >= 0; i--) this.#lastRow[blocks.block(row, i)] = row;
      return;
    }
    this.#ofSession[session] ??= [];
    const rows = this.#ofSession[session];
    rows.unshift(row);
    if (rows.length > LAST_PROMPTS) rows.pop();
  }

  /** The row that has most of the prompt's first blocks, the latest of several; of the same session if it has one. -1: none. */
  nearest(row: number): number {
    const session = this.#table.session[row]!;
    return session === 0 ? this.#nearestOutside(row) : this.#nearestIn(this.#ofSession[session] ?? [], row);
  }

  #nearestOutside(row: number): number {
    const blocks = this.#blocks;
    const length = blocks.blocksOf(row);
    let nearest = -1;
    for (let i = 0; i < length; i++) {
      const last = this.#lastRow[blocks.block(row, i)]!;
      if (last < 0) break;
      nearest = last;
    }
    return nearest;
  }

  #nearestIn(rows: readonly number[], row: number): number {
    let nearest = -1;
    let most = 0;
    for (const earlier of rows) {
      const common = commonBlocks(this.#blocks, earlier, row);
      if (common <= most) continue;
      most = common;
      nearest = earlier;
    }
    return nearest;
  }
}

/** How many of their first blocks two rows share. Blocks are chained: where one is the same, so are all before it. */
export function commonBlocks(blocks: PromptBlocks, a: number, b: number): number {
  let same = 0;
  let other = Math.min(blocks.blocksOf(a), blocks.blocksOf(b)) + 1;
  while (other - same > 1) {
    const middle = (same + other) >> 1;
    if (blocks.block(a, middle - 1) === blocks.block(b, middle - 1)) same = middle;
    else other = middle;
  }
  return same;
}
