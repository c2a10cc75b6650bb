import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Turns } from './turns.js';

it('work gives up the turn once its part is used, and gets the same part of the next one', async () => {
  let now = 0;
  const turns = new Turns(8, () => now);
  expect(turns.next()).toBeNull();
  now = 7;
  expect(turns.next()).toBeNull();
  now = 8;
  let isNext = false;
  void nextTurn().then(() => {
    isNext = true;
  });
  await turns.next();
  expect([isNext, turns.given]).toEqual([true, 1]);
  expect(turns.next()).toBeNull();
  await nextTurn();
});
