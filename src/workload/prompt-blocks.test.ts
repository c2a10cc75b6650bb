import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PromptBlocks } from './prompt-blocks.js';

function blocksOf(prompts: readonly (readonly number[])[]): PromptBlocks {
  const blocks = new PromptBlocks(512);
  prompts.forEach((ids, row) => {
    for (const id of ids) blocks.add(id);
    blocks.endRow(row);
  });
  return blocks;
}

const numbers = (blocks: PromptBlocks, row: number) =>
  Array.from({ length: blocks.blocksOf(row) }, (_, i) => blocks.block(row, i));

const ids = fc.array(fc.constantFrom(0, 1, 2, 3, 5_000_000, 2 ** 45), { maxLength: 6 });

describe('PromptBlocks', () => {
  it('gives blocks the same number exactly when they and all before them are equal', () => {
    fc.assert(
      fc.property(fc.array(ids, { minLength: 2, maxLength: 8 }), (prompts) => {
        const blocks = blocksOf(prompts);
        for (const [a, first] of prompts.entries()) {
          for (const [b, second] of prompts.entries()) {
            for (let i = 0; i < Math.min(first.length, second.length); i++) {
              const same = first.slice(0, i + 1).join() === second.slice(0, i + 1).join();
              expect(numbers(blocks, a)[i] === numbers(blocks, b)[i]).toBe(same);
            }
          }
        }
      }),
    );
  });

  it('numbers blocks from 0 without gaps and counts the prompts that have each', () => {
    fc.assert(
      fc.property(fc.array(ids, { maxLength: 8 }), (prompts) => {
        const blocks = blocksOf(prompts);
        const seen = prompts.flatMap((_, row) => numbers(blocks, row));
        expect([...new Set(seen)].sort((a, b) => a - b)).toEqual(Array.from({ length: blocks.count }, (_, i) => i));
        for (let block = 0; block < blocks.count; block++) {
          expect(blocks.uses[block]).toBe(seen.filter((other) => other === block).length);
        }
      }),
    );
  });

  it('counts the leading blocks that another prompt shares', () => {
    const blocks = blocksOf([[1, 2, 3], [1, 2, 4], [1], [7, 2], []]);
    expect([0, 1, 2, 3, 4, 99].map((row) => blocks.sharedBlocks(row))).toEqual([2, 2, 1, 0, 0, 0]);
  });

  it('has no blocks for rows that were left out', () => {
    const blocks = new PromptBlocks(512);
    blocks.add(9);
    blocks.endRow(3000);
    expect([0, 2999, 3000, 3001].map((row) => blocks.blocksOf(row))).toEqual([0, 0, 1, 0]);
  });

  it('shares its numbers with a table of some of its rows', () => {
    const blocks = blocksOf([[1, 2, 3], [4], [1, 2, 9]]);
    const copy = blocks.withoutRows();
    copy.copyRow(blocks, 2, 0);
    expect(numbers(copy, 0)).toEqual(numbers(blocks, 2));
    expect(copy.sharedBlocks(0)).toBe(2);
    expect(copy.count).toBe(blocks.count);
  });

  it('knows which prompt continues another one, in a copy of its rows, too', () => {
    const blocks = blocksOf([[1], [1, 2, 3], [1, 9]]);
    expect([blocks.continuation(0), blocks.sharedBlocks(1)]).toEqual([-1, 1]);
    blocks.continueWith(0, 1, 600);
    expect([0, 1, 2, 99].map((row) => blocks.continuation(row))).toEqual([1, -1, -1, -1]);
    expect([blocks.sharedBlocks(1), blocks.sharedBlocks(2)]).toEqual([2, 1]);
    const copy = blocks.withoutRows();
    copy.copyRow(blocks, 2, 0);
    copy.copyRow(blocks, 0, 100);
    expect([copy.continuation(0), copy.continuation(100), copy.origin]).toEqual([-1, 1, blocks]);
    copy.copyRow(blocks, 1, 101);
    expect(copy.sharedBlocks(101)).toBe(2);
  });

  it('grows', () => {
    const long = Array.from({ length: 5000 }, (_, i) => i);
    const blocks = blocksOf([long, long]);
    expect(blocks.count).toBe(5000);
    expect(blocks.sharedBlocks(1)).toBe(5000);
  });
});
