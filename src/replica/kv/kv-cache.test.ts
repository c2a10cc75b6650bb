import { describe, expect, it } from 'vitest';
import { NO_BLOCK } from './block-pool.js';
import { KvCache } from './kv-cache.js';

/** Blocks of 4 tokens throughout. */
const SIZE = 4;
const keys = (...list: number[]) => Int32Array.from(list);
const NO_KEYS = keys();

/** Room for a prompt as far as it is not in the cache; of its full blocks, the first `keyCount` have keys. */
function prefill(
  kv: KvCache,
  slot: number,
  prompt: Int32Array,
  tokens = prompt.length * SIZE,
  keyCount = prompt.length,
) {
  const cached = kv.find(prompt, Math.min(keyCount, Math.floor(tokens / SIZE)));
  return kv.allocatePrompt(slot, prompt, keyCount, cached * SIZE, tokens - cached * SIZE, cached);
}

/** Takes all free blocks, so that what they held is gone; returns the order in which they were free. */
function takeAll(kv: KvCache): number[] {
  const blocks: number[] = [];
  while (kv.pool.free > 0) blocks.push(kv.pool.take(1, NO_BLOCK));
  return blocks;
}

describe('room for a prompt', () => {
  it('takes one block per started block of tokens', () => {
    const kv = new KvCache(10, SIZE);
    expect(kv.allocatePrompt(0, NO_KEYS, 0, 0, 9, 0)).toBe(true);
    expect([kv.pool.used, kv.misses, kv.hits]).toEqual([3, 3, 0]);
  });

  it('tops up the last block before it takes another', () => {
    const kv = new KvCache(10, SIZE);
    kv.allocatePrompt(0, NO_KEYS, 0, 0, 6, 0);
    expect([kv.blocksNeeded(6, 2), kv.blocksNeeded(6, 3), kv.blocksNeeded(8, 1)]).toEqual([0, 1, 1]);
    kv.allocatePrompt(0, NO_KEYS, 0, 6, 2, 0);
    expect(kv.pool.used).toBe(2);
    kv.allocatePrompt(0, NO_KEYS, 0, 8, 1, 0);
    expect(kv.pool.used).toBe(3);
  });

  it('is given whole or not at all', () => {
    const kv = new KvCache(2, SIZE);
    expect(kv.allocatePrompt(0, NO_KEYS, 0, 0, 9, 0)).toBe(false);
    expect([kv.pool.used, kv.misses]).toEqual([0, 0]);
    expect(kv.allocatePrompt(0, NO_KEYS, 0, 0, 8, 0)).toBe(true);
  });

  it('counts cached blocks that are free among those it needs', () => {
    const kv = new KvCache(3, SIZE);
    prefill(kv, 0, keys(1, 2));
    kv.release(0);
    kv.allocatePrompt(1, NO_KEYS, 0, 0, 1, 0);
    // Two blocks are free and hold 1 and 2: claiming both leaves none for the five tokens behind them.
    expect(kv.cachedBlocks(keys(1, 2), 2)).toBe(2);
    expect(prefill(kv, 2, keys(1, 2), 13)).toBe(false);
    expect([kv.pool.free, kv.hits]).toEqual([2, 0]);
  });

  it('does not count cached blocks that another request holds', () => {
    const kv = new KvCache(3, SIZE);
    prefill(kv, 0, keys(1, 2));
    expect(prefill(kv, 1, keys(1, 2), 11)).toBe(true);
    expect([kv.pool.used, kv.hits, kv.misses]).toEqual([3, 2, 3]);
  });
});

describe('what can be found again', () => {
  it('is every full block with a key, from the first on, up to the first that is missing', () => {
    const kv = new KvCache(10, SIZE);
    prefill(kv, 0, keys(1, 2, 3), 11);
    expect(kv.cachedBlocks(keys(1, 2, 3), 3)).toBe(2);
    expect(kv.cachedBlocks(keys(1, 9, 2), 3)).toBe(1);
    expect(kv.cachedBlocks(keys(1, 2, 3), 1)).toBe(1);
  });

  it('is not what has no key', () => {
    const kv = new KvCache(10, SIZE);
    kv.allocatePrompt(0, keys(1, 2), 1, 0, 8, 0);
    expect(kv.cachedBlocks(keys(1, 2), 2)).toBe(1);
  });

  it('includes a block that a later chunk of the prompt fills up', () => {
    const kv = new KvCache(10, SIZE);
    const prompt = keys(1, 2, 3);
    kv.allocatePrompt(0, prompt, 3, 0, 6, 0);
    expect(kv.cachedBlocks(prompt, 3)).toBe(1);
    kv.allocatePrompt(0, prompt, 3, 6, 1, 0);
    expect(kv.cachedBlocks(prompt, 3)).toBe(1);
    kv.allocatePrompt(0, prompt, 3, 7, 5, 0);
    expect(kv.cachedBlocks(prompt, 3)).toBe(3);
  });

  it('includes a block that output tokens fill, once it is full', () => {
    const kv = new KvCache(10, SIZE);
    const session = keys(1, 2);
    kv.allocatePrompt(0, session, 2, 0, 5, 0);
    expect(kv.cachedBlocks(session, 2)).toBe(1);
    kv.rememberLast(0, 2);
    expect(kv.cachedBlocks(session, 2)).toBe(2);
  });

  it('stays after the release and goes when the block is taken again', () => {
    const kv = new KvCache(2, SIZE);
    prefill(kv, 0, keys(1, 2));
    kv.release(0);
    expect(kv.cachedBlocks(keys(1, 2), 2)).toBe(2);
    // The deeper block was freed first, so it is the first to go.
    kv.appendBlock(1);
    expect(kv.cachedBlocks(keys(1, 2), 2)).toBe(1);
    kv.appendBlock(1);
    expect(kv.cachedBlocks(keys(1, 2), 2)).toBe(0);
  });

  it('does not become younger by being looked up', () => {
    const kv = new KvCache(2, SIZE);
    prefill(kv, 0, keys(1));
    kv.release(0);
    prefill(kv, 0, keys(2));
    kv.release(0);
    kv.cachedBlocks(keys(1), 1);
    kv.appendBlock(1);
    expect([kv.cachedBlocks(keys(1), 1), kv.cachedBlocks(keys(2), 1)]).toEqual([0, 1]);
  });

  it('can be given keys afterwards, for the blocks that the slot filled itself', () => {
    const kv = new KvCache(10, SIZE);
    prefill(kv, 0, keys(1));
    const prompt = keys(1, 2, 3);
    prefill(kv, 1, prompt, 14, 1);
    expect(kv.cachedBlocks(prompt, 3)).toBe(1);
    kv.rememberRange(1, prompt, 1, 3);
    expect(kv.cachedBlocks(prompt, 3)).toBe(3);
    expect(kv.cachedBlocks(keys(3), 1)).toBe(1);
  });
});

describe('a full hit', () => {
  it('claims nothing: no owner, no hit, and the blocks stay on the free list', () => {
    const kv = new KvCache(4, SIZE);
    prefill(kv, 0, keys(1, 2));
    kv.release(0);
    expect(prefill(kv, 1, keys(1, 2), 8)).toBe(true);
    expect([kv.pool.free, kv.hits, kv.misses]).toEqual([4, 0, 2]);
  });
});

describe('two blocks with the same content', () => {
  function twins(): KvCache {
    const kv = new KvCache(4, SIZE);
    // Both prompts are computed before either can be found: blocks 0 and 1 hold the same.
    kv.allocatePrompt(0, keys(7), 1, 0, 4, 0);
    kv.allocatePrompt(1, keys(7), 1, 0, 4, 0);
    return kv;
  }

  it('are found as the younger one', () => {
    const kv = twins();
    kv.release(0);
    prefill(kv, 2, keys(7, 8));
    expect([kv.pool.isFree(0), kv.pool.isFree(1)]).toEqual([true, false]);
  });

  it('lose their key with the older one, although the younger one still holds the content', () => {
    const kv = twins();
    kv.release(0);
    expect(takeAll(kv)).toEqual([2, 3, 0]);
    for (const block of [2, 3, 0]) kv.pool.release(block);
    for (let i = 0; i < 3; i++) kv.appendBlock(2);
    expect(kv.pool.isFree(1)).toBe(false);
    expect(kv.cachedBlocks(keys(7), 1)).toBe(0);
  });
});

describe('release', () => {
  it('gives blocks back deepest first: own ones, then claimed ones', () => {
    const kv = new KvCache(6, SIZE);
    prefill(kv, 0, keys(1, 2));
    prefill(kv, 1, keys(1, 2, 3, 4));
    kv.release(0);
    kv.release(1);
    expect(takeAll(kv)).toEqual([4, 5, 3, 2, 1, 0]);
  });

  it('leaves a slot with nothing, so that a second release does nothing', () => {
    const kv = new KvCache(6, SIZE);
    prefill(kv, 0, keys(1));
    kv.release(0);
    kv.release(0);
    kv.release(5000);
    expect([kv.pool.free, kv.ownedBlocks()]).toEqual([6, 0]);
  });

  it('keeps blocks that others own', () => {
    const kv = new KvCache(6, SIZE);
    prefill(kv, 0, keys(1));
    prefill(kv, 1, keys(1, 2));
    kv.release(0);
    expect([kv.pool.used, kv.ownedBlocks()]).toEqual([2, 2]);
  });
});

describe('appendBlock', () => {
  it('gives a block for the next output token while there is one', () => {
    const kv = new KvCache(1, SIZE);
    expect([kv.appendBlock(0), kv.appendBlock(0)]).toEqual([true, false]);
    expect(kv.misses).toBe(1);
  });
});

describe('slots', () => {
  it('may be any small number, whatever was used before', () => {
    const kv = new KvCache(8, SIZE);
    kv.allocatePrompt(0, NO_KEYS, 0, 0, 4, 0);
    kv.allocatePrompt(2000, NO_KEYS, 0, 0, 8, 0);
    expect(kv.ownedBlocks()).toBe(3);
    kv.release(2000);
    expect(kv.pool.used).toBe(1);
  });
});

describe('a frozen view', () => {
  it('is empty until the first freeze', () => {
    const kv = new KvCache(4, SIZE);
    kv.trackFreezes();
    prefill(kv, 0, keys(1));
    expect([kv.cachedBlocks(keys(1), 1), kv.frozenBlocks(keys(1), 1)]).toEqual([1, 0]);
  });

  it('shows neither what came nor what went since the freeze', () => {
    const kv = new KvCache(1, SIZE);
    kv.trackFreezes();
    prefill(kv, 0, keys(1));
    kv.release(0);
    kv.freeze();
    prefill(kv, 1, keys(2));
    expect([kv.cachedBlocks(keys(1), 1), kv.frozenBlocks(keys(1), 1)]).toEqual([0, 1]);
    expect([kv.cachedBlocks(keys(2), 1), kv.frozenBlocks(keys(2), 1)]).toEqual([1, 0]);
    kv.freeze();
    expect([kv.frozenBlocks(keys(1), 1), kv.frozenBlocks(keys(2), 1)]).toEqual([0, 1]);
  });

  it('handles a key that is evicted and cached again', () => {
    const kv = new KvCache(1, SIZE);
    kv.trackFreezes();
    prefill(kv, 0, keys(1));
    kv.freeze();
    for (const content of [2, 1, 3]) {
      kv.release(0);
      prefill(kv, 0, keys(content));
    }
    expect([1, 2, 3].map((key) => kv.frozenBlocks(keys(key), 1))).toEqual([1, 0, 0]);
  });
});
