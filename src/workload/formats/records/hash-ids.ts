import type { RequestTable } from '../../request-table.js';
import type { TraceRecord } from './trace-record.js';

/** Tokens of each id in `hash_ids`. */
export const HASH_BLOCK_TOKENS = 512;

/**
 * Sets the blocks of a row from its record: one id for every 512 tokens of the prompt, the last one for the remainder.
 */
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
