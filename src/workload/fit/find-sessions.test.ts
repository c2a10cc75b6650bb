import { describe, expect, it } from 'vitest';
import { arrivalOrder } from '../arrival-order.js';
import { ROW_GROWS_CONTEXT } from '../request-table.js';
import { range, type TestRequest, testTrace } from './block-trace.fixture.js';
import { findSessions, rowGrowsContext } from './find-sessions.js';
import { sharedPrefixes } from './shared-prefixes.js';

/** The rows of each session. */
function chatsOf(requests: readonly TestRequest[]): number[][] {
  const { table } = testTrace(requests);
  const { begin, count, rows } = findSessions(table, arrivalOrder(table), sharedPrefixes(table));
  return range(0, count).map((chat) => [...rows.subarray(begin[chat], begin[chat + 1])]);
}

describe('findSessions by blocks', () => {
  it('takes a prompt that continues an earlier one as its next turn', () => {
    expect(chatsOf([{ blocks: [1, 2] }, { blocks: [8, 9] }, { blocks: [1, 2, 3] }, { blocks: [1, 2, 3, 4] }])).toEqual([
      [0, 2, 3],
      [1],
    ]);
  });

  it('follows the order of time, not of the file', () => {
    expect(
      chatsOf([
        { blocks: [1, 2, 3], atUs: 9 },
        { blocks: [1, 2], atUs: 5 },
      ]),
    ).toEqual([[1, 0]]);
  });

  it('ignores a prefix that many prompts share', () => {
    const firsts = range(0, 5).map((i) => ({ blocks: [1, 10 + i, 20 + i] }));
    const chats = chatsOf([...firsts, { blocks: [1, 11, 21, 31] }, { blocks: [1, 99] }]);
    expect(chats).toEqual([[0], [1, 5], [2], [3], [4], [6]]);
  });

  it('accepts a turn that drops some of the prompt, but not most of it', () => {
    const before = { blocks: range(0, 9) };
    expect(chatsOf([before, { blocks: [...range(0, 3), 50] }])).toEqual([[0, 1]]);
    expect(chatsOf([before, { blocks: [...range(0, 2), 50] }])).toEqual([[0], [1]]);
  });

  it('uses recorded sessions', () => {
    const turns = [
      { blocks: [1, 2], session: 'a' },
      { blocks: [1, 2, 3], session: 'b' },
      { blocks: [1, 2, 4], session: 'a' },
      { blocks: [7, 8], session: 'a' },
    ];
    // The last one starts over: for a cache that is another session.
    expect(chatsOf(turns)).toEqual([[0, 2], [1], [3]]);
  });

  it('continues its own session even if another one shares more', () => {
    const turns = [
      { blocks: [1, 2], session: 'a' },
      { blocks: [1, 2, 3, 4], session: 'b' },
      { blocks: [1, 2, 3], session: 'a', atUs: 500 },
      { blocks: [1, 2, 3, 4, 5], session: 'a' },
    ];
    expect(chatsOf(turns)).toEqual([[0, 2, 3], [1]]);
  });
});

describe('findSessions by session id', () => {
  it('treats a session id as a session, and other requests as sessions of one turn', () => {
    expect(chatsOf([{ session: 'a' }, {}, { session: 'b' }, { session: 'a' }, {}])).toEqual([[0, 3], [1], [2], [4]]);
  });
});

it('rowGrowsContext looks at the blocks, else at the row', () => {
  const plain = testTrace([{}, {}]).table;
  plain.flags[1] = ROW_GROWS_CONTEXT;
  expect([rowGrowsContext(plain, 0), rowGrowsContext(plain, 1)]).toEqual([false, true]);
  expect(rowGrowsContext(testTrace([{ blocks: [1] }]).table, 0)).toBe(true);
});
