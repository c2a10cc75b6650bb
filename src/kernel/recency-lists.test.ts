import { describe, expect, test } from 'vitest';
import { randomStream } from './random-stream.js';
import { NONE, RecencyLists } from './recency-lists.js';

function inOrder(lists: RecencyLists, list: number): number[] {
  const entries: number[] = [];
  for (let entry = lists.oldest[list]!; entry !== NONE; entry = lists.newer(entry)) entries.push(entry);
  expect(lists.newest[list]).toBe(entries.at(-1) ?? NONE);
  return entries;
}

describe('RecencyLists', () => {
  test('agrees with plain arrays over any sequence of operations', () => {
    const random = randomStream(3, 'recency-lists');
    const lists = new RecencyLists(3);
    const expected: number[][] = [[], [], []];
    for (let step = 0; step < 5000; step++) {
      const list = random.below(3);
      const entry = random.below(40);
      lists.reserve(entry + 1);
      const holder = expected.findIndex((entries) => entries.includes(entry));
      if (holder >= 0) {
        lists.remove(holder, entry);
        expected[holder] = expected[holder]!.filter((one) => one !== entry);
      }
      const newer = expected[list]![random.below(40)];
      if (newer !== undefined) {
        lists.insertBefore(list, entry, newer);
        expected[list]!.splice(expected[list]!.indexOf(newer), 0, entry);
      } else if (random.below(4) > 0) {
        lists.append(list, entry);
        expected[list]!.push(entry);
      }
      if (step % 50 === 0) expect([0, 1, 2].map((one) => inOrder(lists, one))).toEqual(expected);
    }
    lists.clear();
    expect([0, 1, 2].map((one) => inOrder(lists, one))).toEqual([[], [], []]);
  });

  test('reserving room keeps the order', () => {
    const lists = new RecencyLists(1, 2);
    lists.append(0, 1);
    lists.append(0, 0);
    lists.reserve(100);
    lists.append(0, 99);
    expect(inOrder(lists, 0)).toEqual([1, 0, 99]);
  });
});
