import { expect, it } from 'vitest';
import { pickerOf } from './parts/picker.fixture.js';
import { vllmLeast } from './vllm-least.js';

it('counts a waiting request four times', () => {
  const { view, why, ask } = pickerOf(vllmLeast, 3);
  view.queued.set([1, 0, 0]);
  view.running.set([0, 5, 4]);
  view.inFlight.set([0, 0, 99]);
  expect(ask()).toBe(0);
  expect(why).toMatchObject({ scored: false, tied: 2, rule: 'least 4 x queued + running' });
  view.running[2] = 3;
  expect(ask()).toBe(2);
});
