import { expect, it } from 'vitest';
import { lmetric } from './lmetric.js';
import { pickerOf } from './parts/picker.fixture.js';

it('multiplies prompt work by requests in flight, and takes the first of equals', () => {
  const { view, request, why, ask, fact } = pickerOf(lmetric, 4);
  request.inputTokens = 1000;
  request.blockSize = 512;
  request.routedBlocks.set([1, 2, 0, 0]);
  view.inFlight.set([2, 3, 1, 1]);
  view.pendingPrefillTokens.set([0, 400, 100, 100]);
  // (0 + 488) x 2, (400 + 0) x 3, (100 + 1000) x 1 twice: more known blocks than tokens are not less than none.
  expect(ask()).toBe(0);
  expect(Array.from(why.scores)).toEqual([-976, -1200, -1100, -1100]);
  expect(fact('hit tokens')).toEqual([512, 1000, 0, 0]);
  view.inFlight[0] = 3;
  expect(ask()).toBe(2);
  expect(why).toMatchObject({ scored: true, tied: 2 });
});

it('takes the first idle replica unless batch_offset is set', () => {
  const arrange = (batch_offset: number) => {
    const { view, request, ask } = pickerOf(lmetric, 2, { batch_offset });
    request.inputTokens = 600;
    request.blockSize = 512;
    request.routedBlocks[1] = 1;
    view.inFlight.set([0, 1]);
    return ask();
  };
  expect([arrange(0), arrange(1)]).toEqual([0, 1]);
});

it('looks prompts up in blocks of 512 tokens by default', () => {
  const sizes = [512, 16].map((block_size) => lmetric.blockSize!({ batch_offset: 0, tie_break: 'first', block_size }));
  expect(sizes).toEqual([512, 16]);
  expect((lmetric.options.block_size as { default?: number }).default).toBe(512);
});
