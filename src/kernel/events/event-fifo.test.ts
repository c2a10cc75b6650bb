import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventFifo } from './event-fifo.js';

describe('EventFifo', () => {
  it('returns events in order of insertion', () => {
    const fifo = new EventFifo();
    fifo.push(10, 1);
    fifo.push(10, 2);
    fifo.push(11, 3);
    expect([fifo.pop(), fifo.pop(), fifo.pop()]).toEqual([1, 2, 3]);
  });

  it('has the time of the next event, Infinity when there is none', () => {
    const fifo = new EventFifo();
    expect(fifo.nextUs).toBe(Number.POSITIVE_INFINITY);
    fifo.push(10, 0);
    fifo.push(12, 0);
    expect(fifo.nextUs).toBe(10);
    fifo.pop();
    expect(fifo.nextUs).toBe(12);
    fifo.pop();
    expect(fifo.nextUs).toBe(Number.POSITIVE_INFINITY);
  });

  it('matches a list while the ring wraps and grows', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -12, max: 20 }), { maxLength: 25 }), (bursts) => {
        const fifo = new EventFifo();
        const model: { time: number; payload: number }[] = [];
        let pushed = 0;
        for (const burst of bursts) {
          for (let i = 0; i < burst; i++) {
            model.push({ time: pushed >> 1, payload: pushed });
            fifo.push(pushed >> 1, pushed++);
          }
          for (let i = 0; i > burst && model.length > 0; i--) expect(fifo.pop()).toBe(model.shift()!.payload);
          expect(fifo.size).toBe(model.length);
          expect(fifo.nextUs).toBe(model[0]?.time ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });
});
