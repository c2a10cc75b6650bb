import { expect, it } from 'vitest';
import { pickerOf } from './parts/picker.fixture.js';
import { powerOfTwo } from './power-of-two.js';

it('never takes the busiest of three or more, and the least busy of two', () => {
  const { view, why, ask } = pickerOf(powerOfTwo, 4);
  view.inFlight.set([3, 1, 2, 0]);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 3000; i++) counts[ask()]!++;
  // Of 6 pairs the idle one is in 3, the next wins 2, the next 1.
  expect(counts[0]).toBe(0);
  for (const [slot, share] of [3, 1, 2].entries()) {
    expect(Math.abs(counts[share]! - (3 - slot) * 500)).toBeLessThan(100);
  }
  expect(why.removed.size).toBe(2);
  expect(why).toMatchObject({ tied: 1, rule: 'fewer in flight of the two drawn' });
  view.eligible.set([1, 0, 1, 0]);
  for (let i = 0; i < 20; i++) expect(ask()).toBe(2);
});

it('draws two different replicas, and takes the first drawn of equals', () => {
  const { why, ask } = pickerOf(powerOfTwo, 3);
  const seen = new Set(Array.from({ length: 60 }, ask));
  expect(seen.size).toBe(3);
  expect([why.tied, why.removed.size]).toEqual([2, 1]);
});

it('needs no draw for a single replica', () => {
  const { view, ask } = pickerOf(powerOfTwo, 3);
  view.eligible.set([0, 0, 1]);
  expect(ask()).toBe(2);
});
