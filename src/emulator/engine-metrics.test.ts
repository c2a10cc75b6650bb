import { expect, test } from 'vitest';
import { oneTwoFive } from './engine-metrics.js';

test('the bounds of token counts grow as vLLM has them, up to the limit', () => {
  expect(oneTwoFive(100)).toEqual([1, 2, 5, 10, 20, 50, 100]);
  expect(oneTwoFive(40)).toEqual([1, 2, 5, 10, 20]);
});
