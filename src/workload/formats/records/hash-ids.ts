import type { RequestTable } from '../../request-table.js';
import type { TraceRecord } from './trace-record.js';

/** Tokens that each id of `hash_ids` stands for. */
export const HASH_BLOCK_TOKENS = 512;

/** Gives the row the blocks that its record names: one id for every 512 tokens of the prompt, the last one for what is left. */
export function addHashIds(table: RequestTable, row: number, record: TraceRecord): void {
  const ids = record.get('hash_ids');
  if (!Array.isArray(ids)) {
    throw record.invalid('hash_ids', ids === undefined ? 'is missing' : 'is not a list', 'give a list of block ids');
  }
  const wanted = Math.ceil(table.inputTokens[row]! / HASH_BLOCK_TOKENS);
  if (ids.length > wanted) {
    const problem = `${ids.length} blocks of ${HASH_BLOCK_TOKENS} tokens for ${table.inputTokens[row]} tokens`;
    throw record.invalid('hash_ids', problem, `give at most ${wanted} ids, or a longer input_length`);
  }
  const blocks = table.blocks!;
  for (let i = 0; i < ids.length; i++) {
    const id: unknown = ids[i];
    if (!(Number.isSafeInteger(id) && (id as number) >= 0)) {
      throw record.invalid('hash_ids', `${JSON.stringify(id)} is not a block id`, 'give whole numbers from 0');
    }
    blocks.add(id as number);
  }
  blocks.endRow(row);
}
