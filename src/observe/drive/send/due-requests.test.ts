import { describe, expect, it } from 'vitest';
import { RequestTable } from '../../../workload/request-table.js';
import { DueRequests } from './due-requests.js';

function table(...arrivals: number[]): RequestTable {
  const made = new RequestTable();
  for (const us of arrivals) made.arrivalUs[made.append()] = us;
  return made;
}

describe('DueRequests', () => {
  it('returns requests in order of time, including those added later', () => {
    const rows = table(30, 10, 20);
    const due = new DueRequests(rows, Number.POSITIVE_INFINITY);
    expect([...due.ahead(2)]).toEqual([1, 2]);
    expect([due.left, due.nextUs, due.take()]).toEqual([3, 10, 1]);
    rows.arrivalUs[rows.append()] = 20;
    rows.arrivalUs[rows.append()] = 15;
    due.add(3);
    due.add(4);
    expect([due.left, due.nextUs]).toEqual([4, 15]);
    expect([due.take(), due.take(), due.take(), due.take()]).toEqual([4, 2, 3, 0]);
    expect([due.left, due.nextUs]).toEqual([0, Number.POSITIVE_INFINITY]);
  });

  it('leaves out requests after the horizon', () => {
    const due = new DueRequests(table(5, 50, 10), 10);
    expect([due.left, due.take(), due.take()]).toEqual([2, 0, 2]);
  });
});
