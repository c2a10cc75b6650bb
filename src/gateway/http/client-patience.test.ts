import { expect, it } from 'vitest';
import { ClientPatience, NEVER } from './client-patience.js';

it('is over after so long at one thing, from the first look on', () => {
  const patience = new ClientPatience();
  expect([50, 149, 150].map((ms) => patience.isOver(ms, 100))).toEqual([false, false, true]);
  patience.begin();
  expect([200, 299, 300].map((ms) => patience.isOver(ms, 100))).toEqual([false, false, true]);
  expect([400, 5000].map((ms) => patience.isOver(ms, NEVER))).toEqual([false, false]);
  expect([5001, 5100, 5101].map((ms) => patience.isOver(ms, 100))).toEqual([false, false, true]);
});
