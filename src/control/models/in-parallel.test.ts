import { expect, it } from 'vitest';
import { inParallel } from './in-parallel.js';

it('starts nothing after a failure, and waits for current work', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const failure = new Error('one');
  const work = inParallel([0, 1, 2, 3, 4], 2, async (item) => {
    begun.push(item);
    if (item === 1) throw failure;
    await new Promise(setImmediate);
    ended.push(item);
    if (item === 0) throw new Error('later');
  });
  await expect(work).rejects.toBe(failure);
  expect([begun, ended]).toEqual([[0, 1], [0]]);
});

it('resolves for an empty list', async () => {
  await inParallel([], 3, () => Promise.reject(new Error('nobody')));
});
