import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PromptBlocks } from '../../prompt-blocks.js';
import { BlockLists, writeBlockList } from './block-list.js';
import { csv, failure, type Row, read } from './csv-text.fixture.js';
import { BASE_COLUMNS } from './layout.js';
import { readTraceData } from './read-data.js';

const COLUMNS = [...BASE_COLUMNS, 'block_hashes'];
const withBlocks = (rows: Row[], blockTokens?: number) =>
  readTraceData(Buffer.from(csv(rows, COLUMNS)), 't.csv', false, blockTokens).table.blocks!;
const numbers = (blocks: PromptBlocks, row: number) =>
  Array.from({ length: blocks.blocksOf(row) }, (_, i) => blocks.block(row, i));

function refusal(rows: Row[], blockTokens?: number): string {
  try {
    withBlocks(rows, blockTokens);
  } catch (error) {
    return (error as Error).message;
  }
  return expect.unreachable('the trace was accepted');
}

describe('a list of blocks', () => {
  it('is ids and ranges of ids', () => {
    const blocks = new PromptBlocks(512);
    [[0, 1, 2], [0, 1, 5], [], [0]].forEach((ids, row) => {
      for (const id of ids) blocks.add(id);
      blocks.endRow(row);
    });
    expect([0, 1, 2, 3].map((row) => writeBlockList(blocks, row))).toEqual(['0-2', '0-1 3', '', '0']);
  });

  it('reads back as the same blocks', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat({ max: 4 }), { maxLength: 6 }), { minLength: 1 }), (prompts) => {
        const blocks = new PromptBlocks(16);
        prompts.forEach((ids, row) => {
          for (const id of ids) blocks.add(id);
          blocks.endRow(row);
        });
        const again = new PromptBlocks(16);
        const lists = new BlockLists(again);
        prompts.forEach((ids, row) => {
          if (ids.length > 0) expect(lists.read(row, writeBlockList(blocks, row))).toBeUndefined();
        });
        prompts.forEach((_, row) => {
          expect(numbers(again, row)).toEqual(numbers(blocks, row));
        });
      }),
    );
  });

  it('counts once for a row that is read twice', () => {
    const blocks = new PromptBlocks(16);
    const lists = new BlockLists(blocks);
    lists.read(0, '3-4');
    lists.read(0, '3-4');
    expect([numbers(blocks, 0), blocks.uses[0]]).toEqual([[0, 1], 1]);
  });
});

describe('the column block_hashes', () => {
  it('holds the blocks of prompts; rows may leave it empty', () => {
    const blocks = withBlocks(
      [{ block_hashes: '7-8' }, { block_hashes: '' }, { block_hashes: '7 9' }, { block_hashes: '"7"' }],
      64,
    );
    expect(blocks.blockTokens).toBe(64);
    expect([0, 1, 2, 3].map((row) => numbers(blocks, row))).toEqual([[0, 1], [], [0, 2], [0]]);
  });

  it('need not be the last', () => {
    const text = csv([{ block_hashes: '1 2', adapter: 'x' }, { adapter: 'y' }], [...COLUMNS, 'adapter']);
    const { blocks } = readTraceData(Buffer.from(text), 't.csv', false, 64).table;
    expect([numbers(blocks!, 0), numbers(blocks!, 1)]).toEqual([[0, 1], []]);
  });

  const hint = "give ids and ranges of ids with spaces between them, as in '0-13 17'";
  it.each([
    ['x', "'x' is not a block id"],
    ['1,2', "'1,2' is not a block id"],
    ['1  2', "'' is not a block id"],
    ['-1', "'-1' is not a block id"],
    ['5-4', 'the range 5-4 runs backwards'],
    ['99999999999999999', '99999999999999999 is too large'],
    ['0-4194304', 'more than 4194304 blocks'],
  ])('refuses %s', (list, problem) => {
    const message = refusal([{ block_hashes: `"${list}"` }], 64);
    expect(message).toMatch(/^t\.csv:2:\d+ \(block_hashes\): /);
    expect(message).toContain(`${problem}; ${hint}`);
  });

  it('refuses more blocks than fit into the prompt', () => {
    expect(refusal([{}, { input_tokens: '129', block_hashes: '0-3' }], 64)).toMatch(
      /^t\.csv:3:\d+ \(block_hashes\): 4 blocks of 64 tokens for a shorter prompt; give at most 3, or more input_tokens$/,
    );
  });

  it('needs a header with the size of blocks', () => {
    expect(refusal([{ block_hashes: '1' }])).toBe(
      "t.csv (block_hashes): the size of the blocks is not given; set it in the header: 'block_tokens: 512'",
    );
  });

  it('has no place among the base columns', () => {
    const moved = ['block_hashes', ...BASE_COLUMNS];
    expect(failure(csv([{}], moved)).message).toContain("column 'block_hashes' is out of place");
    expect(read(csv([{}])).table.blocks).toBeNull();
  });
});
