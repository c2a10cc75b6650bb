import { RunError } from '../kernel/errors.js';
import { type RequestTable, ROW_GROWS_CONTEXT, repeatedTokens } from './request-table.js';

const MAX_KEY = 2 ** 31 - 1;

/**
 * Prompts as keys: two prompts are equal in their blocks 0..i exactly when their keys of block i are equal. No token is
 * ever created. Blocks inside a group's prefix have the group's keys; the turns of a session whose context grows share
 * the session's keys; recorded blocks have as many keys as cover them, and a response that a later prompt repeats has the keys of that prompt;
 * all other blocks belong to one request. Keys are
 * assigned in runs, from 1, and never change.
 */
export class PromptKeys {
  readonly #table: RequestTable;
  readonly #blockSize: number;
  /** First key of each run, by group, session and row; 0 when not yet handed out. */
  #groupKeys: Int32Array = new Int32Array(64);
  #chatKeys: Int32Array = new Int32Array(64);
  #rowKeys: Int32Array;
  #nextKey = 1;
  /** How many of our blocks end inside a recorded one at most, and the first key of the first recorded block. */
  readonly #recordedSpan: number;
  readonly #recordedKeys: number;

  constructor(table: RequestTable, blockSize: number) {
    this.#table = table;
    this.#blockSize = blockSize;
    this.#rowKeys = new Int32Array(Math.max(64, table.count));
    this.#recordedSpan = Math.ceil((table.blocks?.blockTokens ?? 0) / blockSize);
    this.#recordedKeys = this.#handOut((table.blocks?.count ?? 0) * this.#recordedSpan);
  }

  /** All keys handed out so far are below this number. */
  get keyLimit(): number {
    return this.#nextKey;
  }

  /**
   * Writes the keys of the row's first blocks, all full, to out[0..blocks). A row of a growing session also has keys
   * for blocks that its response fills.
   */
  fill(row: number, blocks: number, out: Int32Array): void {
    const table = this.#table;
    if (table.blocks !== null && table.blocks.blocksOf(row) > 0) {
      this.#fillRecorded(row, blocks, out);
      return;
    }
    const size = this.#blockSize;
    const group = table.prefixGroup[row]!;
    const grows = (table.flags[row]! & ROW_GROWS_CONTEXT) !== 0;
    const tokens = table.inputTokens[row]!;
    const reach = grows ? tokens + table.outputTokens[row]! : tokens;
    if (blocks * size > reach) throw new RangeError(`row ${row} has no ${blocks} full blocks of ${size} tokens`);

    const shared = group === 0 ? 0 : Math.floor(table.prefixTokens[group]! / size);
    const fromGroup = Math.min(shared, blocks);
    if (fromGroup > 0) {
      const first = this.#groupKey(group, shared);
      for (let i = 0; i < fromGroup; i++) out[i] = first + i;
    }
    if (blocks <= shared) return;
    const first =
      (grows ? this.#chatKey(table.session[row]!, shared) : this.#rowKey(row, Math.floor(tokens / size) - shared)) -
      shared;
    for (let i = shared; i < blocks; i++) out[i] = first + i;
    // The next turn of a session does not repeat the last token of the response: a block with that token is the row's own.
    if (grows && blocks * size === reach && reach > tokens) out[blocks - 1] = this.#rowKey(row, 1);
  }

  /** How many of the row's first `blocks` blocks another request may have as well; the others are the row's alone. */
  shared(row: number, blocks: number): number {
    const table = this.#table;
    const recorded = table.blocks;
    if (recorded !== null && recorded.blocksOf(row) > 0) {
      const next = recorded.continuation(row);
      const shared = next < 0 ? recorded.sharedBlocks(row) : recorded.origin.blocksOf(next);
      return Math.min(blocks, Math.floor((shared * recorded.blockTokens) / this.#blockSize));
    }
    if ((table.flags[row]! & ROW_GROWS_CONTEXT) !== 0) return blocks;
    return Math.min(blocks, Math.floor(table.prefixTokens[table.prefixGroup[row]!]! / this.#blockSize));
  }

  /**
   * One of our blocks has the key of the recorded block in which it ends: recorded numbers are chained, so that is
   * sufficient. A request that a later prompt repeats with its response has the blocks of that prompt.
   */
  #fillRecorded(row: number, blocks: number, out: Int32Array): void {
    const next = this.#table.blocks!.continuation(row);
    const recorded = next < 0 ? this.#table.blocks! : this.#table.blocks!.origin;
    const source = next < 0 ? row : next;
    const size = this.#blockSize;
    const { blockTokens } = recorded;
    const span = this.#recordedSpan;
    const count = recorded.blocksOf(source);
    let i = 0;
    for (let r = 0; r < count && i < blocks; r++) {
      const first = this.#recordedKeys + recorded.block(source, r) * span;
      const end = Math.min(blocks, Math.floor(((r + 1) * blockTokens) / size));
      for (const begin = i; i < end; i++) out[i] = first + (i - begin);
    }
    if (i === blocks) return;
    const own = this.#rowKey(row, Math.floor(repeatedTokens(this.#table, row) / size) - i) - i;
    for (; i < blocks; i++) out[i] = own + i;
  }

  #groupKey(group: number, blocks: number): number {
    if (group >= this.#groupKeys.length) this.#groupKeys = grown(this.#groupKeys, group);
    if (this.#groupKeys[group] === 0) this.#groupKeys[group] = this.#handOut(blocks);
    return this.#groupKeys[group]!;
  }

  #chatKey(session: number, shared: number): number {
    if (session >= this.#chatKeys.length) this.#chatKeys = grown(this.#chatKeys, session);
    if (this.#chatKeys[session] === 0) {
      this.#chatKeys[session] = this.#handOut(
        Math.floor(this.#table.contextTokens[session]! / this.#blockSize) - shared,
      );
    }
    return this.#chatKeys[session]!;
  }

  #rowKey(row: number, blocks: number): number {
    if (row >= this.#rowKeys.length) this.#rowKeys = grown(this.#rowKeys, row);
    if (this.#rowKeys[row] === 0) this.#rowKeys[row] = this.#handOut(blocks);
    return this.#rowKeys[row]!;
  }

  #handOut(keys: number): number {
    const first = this.#nextKey;
    if (first + keys > MAX_KEY) {
      throw new RunError(
        'TOO_MANY_BLOCKS',
        `the prompts of this workload have more than ${MAX_KEY} different blocks of ${this.#blockSize} tokens: use larger blocks or fewer requests`,
      );
    }
    this.#nextKey = first + keys;
    return first;
  }
}

function grown(keys: Int32Array, index: number): Int32Array {
  const next = new Int32Array(Math.max(keys.length * 2, index + 1));
  next.set(keys);
  return next;
}
