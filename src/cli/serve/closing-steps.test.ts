import { expect, it } from 'vitest';
import { ClosingSteps } from './closing-steps.js';

it('goes on when a step fails, and waits for none when the time is over', async () => {
  const said: string[] = [];
  const steps = new ClosingSteps(20, (line) => said.push(line));
  expect(await steps.run('one', async () => 1)).toBe(1);
  const failed = steps.run('two', async () => {
    throw new Error('the store is away');
  });
  expect(await failed).toBeUndefined();
  expect(await steps.run('three', () => new Promise(() => {}))).toBeUndefined();
  let isBegun = false;
  await steps.run('four', () => {
    isBegun = true;
    return new Promise(() => {});
  });
  steps.end();
  expect([isBegun, said]).toEqual([
    true,
    [
      'warning: two did not stop properly: the store is away',
      'warning: stopping without waiting for three, which takes too long',
      'warning: stopping without waiting for four, which takes too long',
    ],
  ]);
});
