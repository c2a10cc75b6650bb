import { expect, it } from 'vitest';
import { loadOnly } from './load-only.js';
import { pickerOf } from './parts/picker.fixture.js';

it("uses only the router's own count, and takes the first of equals", () => {
  const { view, why, ask } = pickerOf(loadOnly, 3);
  view.queued.set([0, 9, 0]);
  view.inFlight.set([2, 1, 1]);
  expect(ask()).toBe(1);
  expect(why).toMatchObject({ scored: false, tied: 2, rule: 'fewest requests in flight' });
});
