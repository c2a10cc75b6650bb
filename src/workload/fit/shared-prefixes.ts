import type { PromptBlocks } from '../prompt-blocks.js';
import type { RequestTable } from '../request-table.js';

/** Beginnings that many prompts share: system prompts, tool lists, documents. */
export interface SharedPrefixes {
  /** By prefix, from 1; 0 is none. */
  names: string[];
  tokens: number[];
  /** By row: the longest that its prompt starts with. */
  ofRow: Int32Array;
}

/**
 * A beginning is shared when prompts continue it in this many ways: at least this number, and this share of all
 * requests.
 */
const LEAST_WAYS = 4;
const WAYS_SHARE = 0.003;
/**
 * The last block of a prompt is often only half full, and so differs even where a session continues: it counts less.
 */
const HALF_FULL_WAYS = 1 / 8;
/** Further ones count as part of the prompts. */
const MOST_PREFIXES = 32;

/** The prefix groups that a trace names, or else those that its recorded blocks show. */
export function sharedPrefixes(table: RequestTable): SharedPrefixes {
  const { blocks, count, prefixGroup, prefixTokens } = table;
  if (table.prefixGroups.size > 1 || blocks === null) {
    return { names: [...table.prefixGroups.names()], tokens: prefixTokens, ofRow: prefixGroup.subarray(0, count) };
  }
  const ends = prefixEnds(table, blocks);
  const ofRow = new Int32Array(count);
  const names = [''];
  const tokens = [0];
  const known = new Map<number, number>();
  for (let row = 0; row < count; row++) {
    const length = lastEnd(table, blocks, row, ends) + 1;
    if (length === 0) continue;
    const block = blocks.block(row, length - 1);
    let prefix = known.get(block);
    if (prefix === undefined) {
      prefix = names.push(`prefix-${names.length}`) - 1;
      tokens.push(length * blocks.blockTokens);
      known.set(block, prefix);
    }
    ofRow[row] = prefix;
  }
  return { names, tokens, ofRow };
}

/**
 * The blocks after which prompts diverge in many ways. The prompts of a session continue in one way each time, however
 * many turns it has: the number of uses of a block is not evidence.
 */
function prefixEnds(table: RequestTable, blocks: PromptBlocks): Set<number> {
  const ways = new Float64Array(blocks.count);
  const seen = new Uint8Array(blocks.count);
  /** By block: the session whose prompt last continued after it. */
  const lastSession = new Int32Array(blocks.count);
  for (let row = 0; row < table.count; row++) {
    const length = blocks.blocksOf(row);
    for (let i = 0; i < length; i++) {
      const block = blocks.block(row, i);
      if (seen[block] === 1) continue;
      seen[block] = 1;
      if (i === 0) continue;
      const before = blocks.block(row, i - 1);
      const isOther = table.session[row] !== lastSession[before];
      const isHalfFull = (i + 1) * blocks.blockTokens > table.inputTokens[row]!;
      ways[before]! += isHalfFull && !isOther ? HALF_FULL_WAYS : 1;
      lastSession[before] = table.session[row]!;
    }
  }
  const least = Math.max(LEAST_WAYS, WAYS_SHARE * table.count);
  const ends: number[] = [];
  for (let block = 0; block < ways.length; block++) if (ways[block]! >= least) ends.push(block);
  ends.sort((a, b) => blocks.uses[b]! - blocks.uses[a]!);
  return new Set(ends.slice(0, MOST_PREFIXES));
}

/** Where in a row the longest prefix ends that leaves tokens after it; -1 without any. */
function lastEnd(table: RequestTable, blocks: PromptBlocks, row: number, ends: ReadonlySet<number>): number {
  const most = Math.min(blocks.blocksOf(row), Math.ceil(table.inputTokens[row]! / blocks.blockTokens) - 1);
  for (let i = most - 1; i >= 0; i--) if (ends.has(blocks.block(row, i))) return i;
  return -1;
}
