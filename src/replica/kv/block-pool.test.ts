import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockPool, NO_BLOCK } from './block-pool.js';

/** Takes blocks one by one, each for an owner of its own. */
function takeOneByOne(pool: BlockPool, count: number): number[] {
  return Array.from({ length: count }, () => pool.take(1, NO_BLOCK));
}

/** A pool whose blocks have all been used once; they are free again, in order. */
function usedPool(total: number): BlockPool {
  const pool = new BlockPool(total);
  for (const block of takeOneByOne(pool, total)) pool.release(block);
  return pool;
}

describe('BlockPool', () => {
  it('gives out fresh blocks from 0 on', () => {
    const pool = new BlockPool(3);
    expect(takeOneByOne(pool, 3)).toEqual([0, 1, 2]);
    expect([pool.free, pool.used]).toEqual([0, 3]);
  });

  it('gives out blocks that were never used before those that were freed', () => {
    const pool = new BlockPool(3);
    pool.release(pool.takeOne(NO_BLOCK));
    expect([pool.takeOne(NO_BLOCK), ...takeOneByOne(pool, 2)]).toEqual([1, 2, 0]);
  });

  it('takes the block that was freed longest ago', () => {
    const pool = new BlockPool(3);
    takeOneByOne(pool, 3);
    for (const block of [1, 2, 0]) pool.release(block);
    expect(takeOneByOne(pool, 3)).toEqual([1, 2, 0]);
  });

  it('lets a free block be claimed from the middle of the list, and passes over the hole', () => {
    const pool = usedPool(4);
    pool.claim(1);
    expect([pool.isFree(0), pool.isFree(1), pool.free]).toEqual([true, false, 3]);
    expect(takeOneByOne(pool, 2)).toEqual([0, 2]);
  });

  it('frees a block when its last owner releases it', () => {
    const pool = new BlockPool(2);
    const [block] = takeOneByOne(pool, 1) as [number];
    pool.claim(block);
    pool.release(block);
    expect([pool.isFree(block), pool.free]).toEqual([false, 1]);
    pool.release(block);
    expect([pool.isFree(block), pool.free]).toEqual([true, 2]);
  });

  it('puts a block that was claimed and released again at the end', () => {
    const pool = usedPool(3);
    pool.claim(0);
    pool.release(0);
    expect(takeOneByOne(pool, 3)).toEqual([1, 2, 0]);
  });

  it('closes the holes when the ring is full of them, and keeps the order', () => {
    const pool = usedPool(3);
    pool.release(pool.take(1, NO_BLOCK));
    // Every round leaves a hole; the ring has 16 places.
    for (let round = 0; round < 40; round++) {
      pool.claim(1);
      pool.release(1);
    }
    expect(pool.free).toBe(3);
    expect(takeOneByOne(pool, 3)).toEqual([2, 0, 1]);
  });
});

describe('chains', () => {
  it('are what one owner took, and are released from the last block to the first', () => {
    const pool = new BlockPool(4);
    const top = pool.take(1, pool.take(2, NO_BLOCK));
    expect(pool.free).toBe(1);
    pool.releaseChain(top, 3);
    expect([pool.free, takeOneByOne(pool, 4)]).toEqual([4, [3, 2, 1, 0]]);
  });

  it('of different owners do not mix', () => {
    const pool = new BlockPool(5);
    const first = pool.take(1, NO_BLOCK);
    const second = pool.take(1, NO_BLOCK);
    const longer = pool.take(1, first);
    pool.releaseChain(longer, 2);
    expect([0, 1, 2].map((block) => pool.isFree(block))).toEqual([true, false, true]);
    pool.releaseChain(second, 1);
    expect(takeOneByOne(pool, 5)).toEqual([3, 4, 2, 0, 1]);
  });

  it('keep blocks that another request owns as well', () => {
    const pool = new BlockPool(3);
    const top = pool.take(3, NO_BLOCK);
    pool.claim(1);
    pool.releaseChain(top, 3);
    expect([0, 1, 2].map((block) => pool.isFree(block))).toEqual([true, false, true]);
    expect(pool.free).toBe(2);
  });

  it('find room in a ring that is full of holes', () => {
    const pool = usedPool(6);
    const top = pool.take(3, NO_BLOCK);
    // Three free blocks and 13 holes fill the ring of 16 places.
    for (let round = 0; round < 13; round++) {
      pool.claim(4);
      pool.release(4);
    }
    pool.releaseChain(top, 3);
    expect([pool.free, takeOneByOne(pool, 6)]).toEqual([6, [3, 5, 4, 2, 1, 0]]);
  });

  it('of no blocks change nothing', () => {
    const pool = new BlockPool(2);
    expect(pool.take(0, NO_BLOCK)).toBe(NO_BLOCK);
    pool.releaseChain(NO_BLOCK, 0);
    expect(takeOneByOne(pool, 2)).toEqual([0, 1]);
  });
});

describe('a pool', () => {
  it('does what a list and a count of owners do', () => {
    const action = fc.tuple(
      fc.constantFrom('take', 'take', 'claim', 'unclaim', 'release'),
      fc.nat(11),
      fc.integer({ min: 1, max: 4 }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(action, { maxLength: 150 }), (total, actions) => {
        const pool = new BlockPool(total);
        const list = Array.from({ length: total }, (_, i) => i);
        const owners = new Array<number>(total).fill(0);
        const chains: { top: number; blocks: number[] }[] = [];
        const claims: number[] = [];
        // Only what was used before can be found and claimed.
        const used = new Set<number>();
        const letGo = (block: number) => {
          if (--owners[block]! === 0) list.push(block);
        };
        for (const [kind, number, count] of actions) {
          if (kind === 'take' && list.length >= count) {
            const blocks = list.splice(0, count);
            for (const block of blocks) {
              owners[block] = 1;
              used.add(block);
            }
            chains.push({ top: pool.take(count, NO_BLOCK), blocks: blocks.reverse() });
            expect(chains.at(-1)!.top).toBe(blocks[0]);
          } else if (kind === 'claim' && used.has(number % total)) {
            const block = number % total;
            if (owners[block]!++ === 0) list.splice(list.indexOf(block), 1);
            claims.push(block);
            pool.claim(block);
          } else if (kind === 'unclaim' && claims.length > 0) {
            const [block] = claims.splice(number % claims.length, 1) as [number];
            letGo(block);
            pool.release(block);
          } else if (kind === 'release' && chains.length > 0) {
            const [{ top, blocks }] = chains.splice(number % chains.length, 1) as [(typeof chains)[number]];
            blocks.forEach(letGo);
            pool.releaseChain(top, blocks.length);
          }
          expect([pool.free, pool.used]).toEqual([list.length, total - list.length]);
          expect(owners.map((_, i) => pool.isFree(i))).toEqual(owners.map((held) => held === 0));
        }
        expect(takeOneByOne(pool, list.length)).toEqual(list);
      }),
    );
  });
});
