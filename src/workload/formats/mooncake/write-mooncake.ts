import { arrivalOrder } from '../../arrival-order.js';
import type { PromptBlocks } from '../../prompt-blocks.js';
import type { RequestTable } from '../../request-table.js';
import { promptTable } from '../../tools/prompt-table.js';
import { SharedBlocks } from '../../tools/stats/shared-blocks.js';
import type { Trace } from '../../trace.js';
import { HASH_BLOCK_TOKENS } from '../records/hash-ids.js';

const CHUNK_CHARACTERS = 64 * 1024;

/**
 * A trace as Mooncake JSON lines, in chunks, in order of arrival: times in whole milliseconds, and an id for every 512
 * tokens of a prompt and for the remainder. Equal ids mean equal prompts up to there, whether blocks were recorded,
 * prompts share a group's prefix or a session's context grows; ids are numbered in order of appearance.
 */
export function* writeMooncake(trace: Trace): Generator<string, void, undefined> {
  const table = promptTable(trace);
  const ids = new HashIds(table);
  let text = '';
  for (const row of arrivalOrder(table)) {
    text += `{"timestamp": ${Math.round(table.arrivalUs[row]! / 1000)}, "input_length": ${table.inputTokens[row]}, `;
    text += `"output_length": ${table.outputTokens[row]}, "hash_ids": [${ids.of(row).join(', ')}]}\n`;
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}

/** The block ids of prompts: equal for shared blocks, new for a prompt's own blocks. */
class HashIds {
  readonly #table: RequestTable;
  /** The recorded blocks of prompts, where they have exactly this size. */
  readonly #recorded: PromptBlocks | null;
  readonly #shared: SharedBlocks;
  /** One more than the id, by recorded block and by key; 0 while it has none. */
  readonly #recordedIds: Int32Array;
  #keyIds: Int32Array = new Int32Array(1024);
  #next = 0;

  constructor(table: RequestTable) {
    this.#table = table;
    this.#recorded = table.blocks?.blockTokens === HASH_BLOCK_TOKENS ? table.blocks : null;
    this.#recordedIds = new Int32Array(this.#recorded?.count ?? 0);
    this.#shared = new SharedBlocks(table, HASH_BLOCK_TOKENS);
  }

  of(row: number): number[] {
    const ids: number[] = [];
    const recorded = this.#recorded?.blocksOf(row) ?? 0;
    for (let i = 0; i < recorded; i++) ids.push(this.#id(this.#recordedIds, this.#recorded!.block(row, i)));
    if (recorded === 0) {
      const shared = this.#shared.fill(row);
      if (this.#shared.keyLimit > this.#keyIds.length) this.#keyIds = grown(this.#keyIds, this.#shared.keyLimit);
      for (let i = 0; i < shared; i++) ids.push(this.#id(this.#keyIds, this.#shared.keys[i]!));
    }
    const wanted = Math.ceil(this.#table.inputTokens[row]! / HASH_BLOCK_TOKENS);
    while (ids.length < wanted) ids.push(this.#next++);
    return ids;
  }

  #id(ids: Int32Array, key: number): number {
    if (ids[key] === 0) ids[key] = ++this.#next;
    return ids[key]! - 1;
  }
}

function grown(array: Int32Array, length: number): Int32Array {
  const next = new Int32Array(Math.max(length, array.length * 2));
  next.set(array);
  return next;
}
