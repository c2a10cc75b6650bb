import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventHeap } from './event-heap.js';

describe('EventHeap', () => {
  it('returns events in order of time, for any order of insertion', () => {
    const heap = new EventHeap();
    for (const time of [30, 10, 20]) heap.push(time, time + 1);
    expect([heap.pop(), heap.pop(), heap.pop()]).toEqual([11, 21, 31]);
  });

  it('returns events of the same time in order of insertion', () => {
    const heap = new EventHeap();
    for (let i = 0; i < 20; i++) heap.push(5, i);
    expect(Array.from({ length: 20 }, () => heap.pop())).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('has the time of the next event, Infinity when there is none', () => {
    const heap = new EventHeap();
    expect(heap.nextUs).toBe(Number.POSITIVE_INFINITY);
    heap.push(8, 0);
    heap.push(3, 0);
    expect(heap.nextUs).toBe(3);
    heap.pop();
    expect(heap.nextUs).toBe(8);
    heap.pop();
    expect([heap.nextUs, heap.size]).toEqual([Number.POSITIVE_INFINITY, 0]);
  });

  it('keeps times exact that do not fit in 32 bits', () => {
    const heap = new EventHeap();
    heap.push(1_700_000_000_000_001, 1);
    heap.push(1_700_000_000_000_000, 0);
    expect([heap.pop(), heap.nextUs]).toEqual([0, 1_700_000_000_000_001]);
  });

  it('matches a stable sort, for pushes and pops in any order', () => {
    const action = fc.oneof(
      { weight: 3, arbitrary: fc.nat(8).map((time) => ({ time })) },
      { weight: 2, arbitrary: fc.constant(null) },
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 120 }), (actions) => {
        const heap = new EventHeap();
        const model: { time: number; payload: number }[] = [];
        let payload = 0;
        for (const pushed of actions) {
          if (pushed !== null) {
            heap.push(pushed.time, payload);
            model.push({ time: pushed.time, payload: payload++ });
            model.sort((a, b) => a.time - b.time);
          } else if (model.length > 0) {
            expect(heap.pop()).toBe(model.shift()!.payload);
          }
          expect(heap.size).toBe(model.length);
          expect(heap.nextUs).toBe(model[0]?.time ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });
});
