import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockChain } from './block-chain.js';

function ids(text: string, seed = 'm', blockBytes = 8): number[] {
  const chain = new BlockChain();
  const bytes = Buffer.from(text);
  chain.start(seed);
  chain.addBlocks(bytes, bytes.length, blockBytes);
  return Array.from(chain.ids.subarray(0, chain.count));
}

describe('BlockChain', () => {
  it('names full blocks only', () => {
    expect([ids('').length, ids('1234567').length, ids('12345678').length, ids('123456789').length]).toEqual([
      0, 0, 1, 1,
    ]);
  });

  it('gives prompts with a common prefix the same first ids, and different ones after it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.string({ maxLength: 80 }), (a, b) => {
        const [left, right] = [Buffer.from(a), Buffer.from(b)];
        const [x, y] = [ids(a), ids(b)];
        for (let block = 0; block < Math.min(x.length, y.length); block++) {
          const alike = left.subarray(0, (block + 1) * 8).equals(right.subarray(0, (block + 1) * 8));
          expect(x[block] === y[block]).toBe(alike);
        }
      }),
    );
  });

  it('has nothing in common between seeds', () => {
    const text = 'the same words over and over again, long enough for a few blocks';
    expect(ids(text, 'a').filter((id) => ids(text, 'b').includes(id))).toEqual([]);
  });

  it('depends on order: the same block elsewhere has another id', () => {
    expect(new Set(ids('12345678'.repeat(20))).size).toBe(20);
  });

  it('accepts any block length and grows with the prompt', () => {
    expect(ids('x'.repeat(10_000), 'm', 7)).toHaveLength(1428);
    expect(ids('x'.repeat(10_000), 'm', 7).every((id) => id >= 0 && id < 2 ** 31)).toBe(true);
  });

  it('returns the full hash of every id', () => {
    const chain = new BlockChain();
    const bytes = Buffer.from('0123456789'.repeat(800));
    chain.start('m');
    chain.addBlocks(bytes, bytes.length, 8);
    const pairs = Array.from({ length: chain.count }, (_, i) => chain.words.subarray(2 * i, 2 * i + 2));
    expect(pairs.map(([a, b]) => (a! ^ (b! << 7)) >>> 1)).toEqual(Array.from(chain.ids.subarray(0, chain.count)));
    expect(new Set(pairs.map(([, b]) => b)).size).toBe(1000);
  });

  it('resets for every prompt', () => {
    const chain = new BlockChain();
    const bytes = Buffer.from('0123456789abcdef');
    chain.start('m');
    chain.addBlocks(bytes, 16, 8);
    const first = Array.from(chain.ids.subarray(0, 2));
    chain.start('m');
    chain.addBlocks(bytes, 8, 8);
    expect([chain.count, chain.ids[0]]).toEqual([1, first[0]]);
  });
});
