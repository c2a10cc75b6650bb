import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWaitQueue, type WaitQueue } from './wait-queue.js';

function drain(queue: WaitQueue): number[] {
  const rows: number[] = [];
  while (queue.length > 0) {
    rows.push(queue.head());
    queue.shift();
  }
  return rows;
}

const ascending = (a: number, b: number) => a < b;

describe('a queue in order of arrival', () => {
  it('serves in order of arrival', () => {
    const queue = createWaitQueue(null);
    for (const row of [5, 3, 4]) queue.push(row);
    expect(drain(queue)).toEqual([5, 3, 4]);
  });

  it('serves preempted requests before all others; those put back last go first', () => {
    const queue = createWaitQueue(null);
    queue.push(1);
    queue.pushFront(3);
    queue.pushFront(2);
    expect(drain(queue)).toEqual([2, 3, 1]);
  });
});

describe('a queue with an order', () => {
  it('serves by that order, wherever a row was put in', () => {
    const queue = createWaitQueue(ascending);
    for (const row of [5, 3, 4]) queue.push(row);
    queue.pushFront(9);
    expect(drain(queue)).toEqual([3, 4, 5, 9]);
  });
});

describe.each([
  ['in order of arrival', null],
  ['with an order', ascending],
] as const)('every queue, also one %s', (_, order) => {
  it('has no head when empty', () => {
    const queue = createWaitQueue(order);
    expect([queue.head(), queue.length]).toEqual([-1, 0]);
    queue.push(0);
    queue.remove(0);
    expect([queue.head(), queue.length]).toEqual([-1, 0]);
  });

  it('removes requests from the head, the middle and the end', () => {
    const queue = createWaitQueue(order);
    for (const row of [1, 2, 3, 4, 5]) queue.push(row);
    for (const row of [3, 1, 5]) queue.remove(row);
    expect([queue.length, queue.head()]).toEqual([2, 2]);
    expect(drain(queue)).toEqual([2, 4]);
  });

  it('does not mind the removal of a row that does not wait', () => {
    const queue = createWaitQueue(order);
    queue.push(1);
    queue.remove(2);
    expect([queue.length, queue.head()]).toEqual([1, 1]);
  });

  it('has room for any number of rows at either end', () => {
    const queue = createWaitQueue(order);
    for (let row = 500; row < 600; row++) queue.push(row);
    for (let row = 499; row >= 0; row--) queue.pushFront(row);
    expect(drain(queue)).toEqual(Array.from({ length: 600 }, (_, row) => row));
  });

  it('does what a list does', () => {
    const kind = fc.constantFrom('push', 'push', 'pushFront', 'shift', 'remove');
    fc.assert(
      fc.property(fc.array(fc.tuple(kind, fc.nat(500)), { maxLength: 200 }), (actions) => {
        const queue = createWaitQueue(order);
        const list: number[] = [];
        for (const [action, number] of actions) {
          if (action === 'push' || action === 'pushFront') {
            if (list.includes(number)) continue;
            queue[action](number);
            if (action === 'push') list.push(number);
            else list.unshift(number);
            if (order !== null) list.sort((a, b) => a - b);
          } else if (action === 'shift' && list.length > 0) {
            queue.shift();
            list.shift();
          } else if (action === 'remove' && list.length > 0) {
            const [gone] = list.splice(number % list.length, 1);
            queue.remove(gone!);
          }
          expect([queue.length, queue.head()]).toEqual([list.length, list[0] ?? -1]);
        }
        expect(drain(queue)).toEqual(list);
      }),
    );
  });
});
