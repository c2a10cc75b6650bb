import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockPool } from './block-pool.js';

describe('BlockPool', () => {
  it('gives out fresh blocks from 0 on', () => {
    const pool = new BlockPool(3);
    expect([pool.take(), pool.take(), pool.take()]).toEqual([0, 1, 2]);
    expect([pool.free, pool.used]).toEqual([0, 3]);
  });

  it('takes the block that was freed longest ago', () => {
    const pool = new BlockPool(3);
    for (let i = 0; i < 3; i++) pool.take();
    for (const block of [1, 2, 0]) pool.release(block);
    expect([pool.take(), pool.take(), pool.take()]).toEqual([1, 2, 0]);
  });

  it('lets a free block be claimed from the middle of the list, and passes over the hole', () => {
    const pool = new BlockPool(4);
    pool.claim(1);
    expect([pool.isFree(0), pool.isFree(1), pool.free]).toEqual([true, false, 3]);
    expect([pool.take(), pool.take()]).toEqual([0, 2]);
  });

  it('frees a block when its last owner lets go', () => {
    const pool = new BlockPool(2);
    const block = pool.take();
    pool.claim(block);
    pool.release(block);
    expect([pool.isFree(block), pool.free]).toEqual([false, 1]);
    pool.release(block);
    expect([pool.isFree(block), pool.free]).toEqual([true, 2]);
  });

  it('puts a block that was claimed and released again at the end', () => {
    const pool = new BlockPool(3);
    pool.claim(0);
    pool.release(0);
    expect([pool.take(), pool.take(), pool.take()]).toEqual([1, 2, 0]);
  });

  it('closes the holes when the ring is full of them, and keeps the order', () => {
    const pool = new BlockPool(3);
    // Every round leaves a hole; the ring has 16 places.
    for (let round = 0; round < 40; round++) {
      pool.claim(1);
      pool.release(1);
    }
    expect(pool.free).toBe(3);
    expect([pool.take(), pool.take(), pool.take()]).toEqual([0, 2, 1]);
  });

  it('does what a list and a count of owners do', () => {
    const action = fc.tuple(fc.constantFrom('take', 'claim', 'release', 'release'), fc.nat(11));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(action, { maxLength: 150 }), (total, actions) => {
        const pool = new BlockPool(total);
        const list = Array.from({ length: total }, (_, i) => i);
        const owners = new Array<number>(total).fill(0);
        for (const [kind, number] of actions) {
          const block = number % total;
          if (kind === 'take' && list.length > 0) {
            const oldest = list.shift()!;
            owners[oldest] = 1;
            expect(pool.take()).toBe(oldest);
          } else if (kind === 'claim') {
            if (owners[block]!++ === 0) list.splice(list.indexOf(block), 1);
            pool.claim(block);
          } else if (kind === 'release' && owners[block]! > 0) {
            if (--owners[block]! === 0) list.push(block);
            pool.release(block);
          }
          expect([pool.free, pool.used]).toEqual([list.length, total - list.length]);
          expect(owners.map((_, i) => pool.isFree(i))).toEqual(owners.map((count) => count === 0));
        }
        expect(list.map(() => pool.take())).toEqual(list);
      }),
    );
  });
});
