import { grownArray, roomFor } from '../../../kernel/grown-array.js';
import type { RequestTable } from '../../request-table.js';
import { type HotPrefix, hotPrefixes } from './hot-prefixes.js';
import { LruBlocks } from './lru-blocks.js';
import { SharedBlocks } from './shared-blocks.js';

export interface PrefixReuse {
  /** By position in the order: prompt tokens in full blocks that stood at the start of an earlier prompt. */
  reusedTokens: Float64Array;
  /** The same when only the most recently used blocks are kept; null when no limit was given. */
  cachedTokens: Float64Array | null;
  hotPrefixes: HotPrefix[];
}

/**
 * What a prefix cache could find of each prompt, in this order of arrival, in blocks of this many tokens. Responses are
 * not cached here: only what the prompts themselves have in common counts.
 */
export function prefixReuse(
  table: RequestTable,
  order: Int32Array,
  blockSize: number,
  cacheBlocks: number | null,
): PrefixReuse {
  const blocks = new SharedBlocks(table, blockSize);
  const reusedTokens = new Float64Array(order.length);
  const cachedTokens = cacheBlocks === null ? null : new Float64Array(order.length);
  const cache = new LruBlocks(cacheBlocks ?? 0);
  let uses: Int32Array = new Int32Array(1024);
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!;
    const shared = blocks.fill(row);
    const { keys } = blocks;
    if (uses.length < blocks.keyLimit) uses = grownArray(uses, roomFor(blocks.keyLimit - 1, uses.length));
    let seen = 0;
    while (seen < shared && uses[keys[seen]!]! > 0) seen++;
    reusedTokens[i] = seen * blockSize;
    for (let b = 0; b < shared; b++) uses[keys[b]!]!++;
    if (cachedTokens === null) continue;

    // Entries of the cache: a prompt's own blocks by row, shared ones by key after all rows.
    const first = table.count;
    let cached = 0;
    while (cached < shared && cache.has(first + keys[cached]!)) cached++;
    cachedTokens[i] = cached * blockSize;
    for (let b = 0; b < shared; b++) cache.use(first + keys[b]!, 1);
    const own = blocks.full(row) - shared;
    if (own > 0) cache.use(row, own);
  }
  return { reusedTokens, cachedTokens, hotPrefixes: hotPrefixes(blocks, order, uses) };
}
