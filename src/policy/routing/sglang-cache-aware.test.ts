import { expect, it } from 'vitest';
import { pickerOf } from './parts/picker.fixture.js';
import { sglangCacheAware } from './sglang-cache-aware.js';

function arranged() {
  const host = pickerOf(sglangCacheAware, 4);
  const { request, view } = host;
  request.inputTokens = 160;
  request.blockSize = 16;
  request.routedBlocks.set([0, 3, 4, 4]);
  view.indexedBlocks.set([9, 7, 8, 7]);
  return host;
}

it('follows the best match above 0.3', () => {
  const { request, why, ask } = arranged();
  expect(ask()).toBe(2);
  expect(why).toMatchObject({ scored: false, rule: 'best prefix match' });
  request.routedBlocks.set([0, 3, 0, 0]);
  expect(ask()).toBe(1);
  expect(why.rule).toBe('smallest prefix tree: no match is good enough');
  request.inputTokens = 159;
  expect([ask(), why.rule]).toEqual([1, 'best prefix match']);
  request.inputTokens = 0;
  request.routedBlocks.fill(0);
  expect(ask()).toBe(1);
});

it('balances only when both the difference and the ratio are exceeded', () => {
  const { view, why, ask } = arranged();
  view.inFlight.set([66, 66, 65, 1]);
  expect(ask()).toBe(3);
  expect(why.rule).toBe('fewest in flight: out of balance');
  view.inFlight.set([65, 65, 65, 1]);
  expect([ask(), why.rule]).toEqual([2, 'best prefix match']);
  view.inFlight.set([225, 225, 225, 150]);
  expect([ask(), why.rule]).toEqual([2, 'best prefix match']);
  view.inFlight[0] = 226;
  expect(ask()).toBe(3);
  view.eligible[0] = 0;
  expect(ask()).toBe(2);
});
