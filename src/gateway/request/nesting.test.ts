import { expect, it } from 'vitest';
import { isTooDeep } from './nesting.js';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

it('knows what is too deep to follow, and does not fall in itself', () => {
  expect([isTooDeep(nested(500)), isTooDeep(nested(501))]).toEqual([false, true]);
  expect(isTooDeep(nested(200_000))).toBe(true);
  expect(isTooDeep({ a: [1, { b: null }], c: 'x' })).toBe(false);
  expect([isTooDeep({ a: { b: 1 } }, 2), isTooDeep({ a: { b: {} } }, 2)]).toEqual([false, true]);
});
