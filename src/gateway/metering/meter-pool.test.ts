import { expect, test } from 'vitest';
import { MeterPool } from './meter-pool.js';

test('meters are used again, and know nothing of the last answer', () => {
  const pool = new MeterPool();
  const [one, two] = [pool.take(), pool.take()];
  expect(two).not.toBe(one);
  one.begin('json', false);
  one.piece(Buffer.from('{"usage":{"prompt_tokens":3,"completion_tokens":2}}'));
  pool.give(one);
  const again = pool.take();
  expect(again).toBe(one);
  expect(again.isSettled).toBe(false);
  again.finish(false, 7, 9);
  expect(again).toMatchObject({ inputTokens: 7, outputTokens: 0, isMetered: false, ending: 'cut' });
});
