import type { SharedBlocks } from './shared-blocks.js';

/** A beginning that several prompts share, and how much it saves if it is kept. */
export interface HotPrefix {
  /** From the start of the prompt to where the prompts that share it diverge. */
  tokens: number;
  /** Prompts that start like this. */
  uses: number;
  /** What these find of it, less what counts for a shorter prefix inside it: all prefixes together make up all reuse. */
  reusedTokens: number;
  /** The first row that starts like this. */
  row: number;
}

const LISTED = 10;
/** The list is cut down whenever it gets this long. */
const UNSORTED = 1000;

/**
 * The prefixes that save most, first; at most ten. `uses`, by key, is the number of prompts with a block; it is
 * consumed. Follows every prompt to where others diverge: there a shared prefix ends.
 */
export function hotPrefixes(blocks: SharedBlocks, order: Int32Array, uses: Int32Array): HotPrefix[] {
  let hot: HotPrefix[] = [];
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!;
    const shared = blocks.fill(row);
    const { blockSize, keys } = blocks;
    let begin = 0;
    for (let b = 0; b < shared; b++) {
      const count = Math.abs(uses[keys[b]!]!);
      if (count < 2) break;
      if (b + 1 < shared && Math.abs(uses[keys[b + 1]!]!) === count) continue;
      if (uses[keys[b]!]! > 0) {
        const reusedTokens = (count - 1) * (b + 1 - begin) * blockSize;
        hot.push({ tokens: (b + 1) * blockSize, uses: count, reusedTokens, row });
        // Negative from now on: it is in the list.
        uses[keys[b]!] = -count;
      }
      begin = b + 1;
    }
    if (hot.length >= UNSORTED) hot = hottest(hot);
  }
  return hottest(hot);
}

/** Sorting is stable: equals keep the order of their first appearance. */
function hottest(prefixes: HotPrefix[]): HotPrefix[] {
  return prefixes.sort((a, b) => b.reusedTokens - a.reusedTokens).slice(0, LISTED);
}
