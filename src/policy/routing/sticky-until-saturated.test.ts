import { expect, it } from 'vitest';
import { pickerOf } from './parts/picker.fixture.js';
import { stickyUntilSaturated } from './sticky-until-saturated.js';

function arranged() {
  const host = pickerOf(stickyUntilSaturated, 4);
  host.request.routedBlocks.set([1, 3, 3, 0]);
  host.view.running.set([1, 4, 2, 1]);
  return host;
}

it('follows the best match, the least loaded of equals', () => {
  const { why, ask } = arranged();
  expect(ask()).toBe(2);
  expect(why).toMatchObject({ scored: false, rule: 'best prefix match' });
});

it('leaves a replica that queues more than 5 or uses more than 0.8 of its memory', () => {
  const { view, why, ask } = arranged();
  view.queued.fill(5);
  view.kvUsed.fill(0.8);
  expect(ask()).toBe(2);
  view.queued[2] = 6;
  view.running[2] = 0;
  expect(ask()).toBe(0);
  expect([...why.removed]).toEqual([[2, 'saturated']]);
  expect(why.rule).toBe('least loaded: the best match is saturated');
  view.queued[2] = 5;
  view.kvUsed[2] = 0.81;
  // It is also the least loaded one.
  expect([ask(), why.rule]).toEqual([2, 'least loaded: the best match is saturated']);
});

it('takes the least loaded replica when no replica knows the prompt', () => {
  const { request, why, ask } = arranged();
  request.routedBlocks.fill(0);
  expect(ask()).toBe(0);
  expect(why.rule).toBe('least loaded: no block is known');
});
