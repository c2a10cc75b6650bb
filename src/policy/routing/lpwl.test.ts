import { expect, it } from 'vitest';
import { lpwl } from './lpwl.js';
import { pickerOf } from './parts/picker.fixture.js';

it('takes the least prompt work, then the fewest requests, then the first', () => {
  const { view, request, why, ask, fact } = pickerOf(lpwl, 4);
  request.inputTokens = 100;
  request.blockSize = 16;
  request.routedBlocks.set([0, 2, 0, 6]);
  view.pendingPrefillTokens.set([0, 32, 0, 200]);
  view.inFlight.set([5, 4, 4, 0]);
  expect(ask()).toBe(1);
  expect(fact('pending work')).toEqual([100, 100, 100, 204]);
  expect(why).toMatchObject({ scored: false, tied: 2, rule: 'least pending prompt work' });
  view.inFlight[2] = 3;
  expect([ask(), why.tied]).toEqual([2, 1]);
  view.pendingPrefillTokens[3] = 0;
  expect(ask()).toBe(3);
});
