import { describe, expect, it } from 'vitest';
import { range, type TestRequest, testTrace } from './block-trace.fixture.js';
import { commonBlocks, EarlierPrompts } from './earlier-prompts.js';

/** For the last of these requests, the row that it continues. */
function nearestOf(requests: readonly TestRequest[]): number {
  const { table } = testTrace(requests);
  const earlier = new EarlierPrompts(table, table.blocks!);
  for (let row = 0; row < table.count - 1; row++) earlier.add(row);
  return earlier.nearest(table.count - 1);
}

describe('EarlierPrompts', () => {
  it('finds the latest of the prompts that share the most blocks', () => {
    const prompts = [{ blocks: [1, 2, 3] }, { blocks: [1, 2, 4] }, { blocks: [1, 2, 3, 5] }, { blocks: [1] }];
    expect(nearestOf([...prompts, { blocks: [1, 2, 3, 6] }])).toBe(2);
    expect(nearestOf([...prompts, { blocks: [1, 2, 7] }])).toBe(2);
    expect(nearestOf([...prompts, { blocks: [1, 8] }])).toBe(3);
    expect(nearestOf([...prompts, { blocks: [9] }])).toBe(-1);
    expect(nearestOf([...prompts, { blocks: [] }])).toBe(-1);
  });

  it('does the same inside a session, and ignores other sessions', () => {
    const prompts = [
      { blocks: [1, 2, 3], session: 'a' },
      { blocks: [1, 2, 3, 4], session: 'b' },
      { blocks: [1, 2, 5], session: 'a' },
      { blocks: [1, 2, 3, 4] },
    ];
    expect(nearestOf([...prompts, { blocks: [1, 2, 3, 4], session: 'a' }])).toBe(0);
    expect(nearestOf([...prompts, { blocks: [1, 2, 9], session: 'a' }])).toBe(2);
    expect(nearestOf([...prompts, { blocks: [1, 2, 3, 4], session: 'c' }])).toBe(-1);
    expect(nearestOf([...prompts, { blocks: [1, 2, 3, 4] }])).toBe(3);
  });

  it('forgets a prompt of a session after eight later ones', () => {
    const others = (count: number) => range(0, count).map((i) => ({ blocks: [50 + i], session: 'a' }));
    const first = { blocks: [1, 2], session: 'a' };
    expect(nearestOf([first, ...others(7), { blocks: [1, 2, 3], session: 'a' }])).toBe(0);
    expect(nearestOf([first, ...others(8), { blocks: [1, 2, 3], session: 'a' }])).toBe(-1);
  });
});

it('commonBlocks counts the leading blocks that two prompts share', () => {
  const { table } = testTrace([
    { blocks: range(0, 20) },
    { blocks: [...range(0, 13), 99] },
    { blocks: [7] },
    { blocks: [] },
  ]);
  const common = (a: number, b: number) => commonBlocks(table.blocks!, a, b);
  expect([common(0, 0), common(0, 1), common(1, 0), common(0, 2), common(0, 3)]).toEqual([20, 13, 13, 0, 0]);
});
