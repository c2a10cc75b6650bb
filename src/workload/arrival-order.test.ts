import { describe, expect, it } from 'vitest';
import { arrivalOrder, isSorted } from './arrival-order.js';
import { RequestTable } from './request-table.js';

function arriving(...times: number[]): RequestTable {
  const table = new RequestTable(1);
  for (const us of times) {
    const row = table.append();
    table.arrivalUs[row] = us;
  }
  return table;
}

describe('arrivalOrder', () => {
  it('leaves sorted rows alone', () => {
    expect([...arrivalOrder(arriving(1, 5, 5, 9))]).toEqual([0, 1, 2, 3]);
  });

  it('sorts by time and keeps the order of rows that arrive together', () => {
    expect([...arrivalOrder(arriving(30, 10, 20, 10, 30, 10))]).toEqual([1, 3, 5, 2, 0, 4]);
  });

  it('compares times beyond 32 bits', () => {
    expect([...arrivalOrder(arriving(9_007_199_254_740_990, 9_007_199_254_740_989))]).toEqual([1, 0]);
  });

  it('has nothing to order in an empty table', () => {
    expect(arrivalOrder(arriving()).length).toBe(0);
  });
});

describe('isSorted', () => {
  it('is true for equal times and false for any step back', () => {
    expect(isSorted(arriving(1, 1, 2))).toBe(true);
    expect(isSorted(arriving(1, 3, 2))).toBe(false);
  });
});
