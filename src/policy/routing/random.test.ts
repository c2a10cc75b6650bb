import { expect, it } from 'vitest';
import { pickerOf } from './parts/picker.fixture.js';
import { random } from './random.js';

it('draws all eligible replicas about equally often', () => {
  const { view, why, ask } = pickerOf(random, 4);
  view.eligible[1] = 0;
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 3000; i++) counts[ask()]!++;
  expect(counts[1]).toBe(0);
  for (const slot of [0, 2, 3]) expect(Math.abs(counts[slot]! - 1000)).toBeLessThan(100);
  expect(why).toMatchObject({ scored: false, tied: 0, rule: 'drawn' });
  view.eligible.set([0, 0, 1, 0]);
  expect(ask()).toBe(2);
});
