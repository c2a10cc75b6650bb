import { expect, it } from 'vitest';
import { Prices } from './prices.js';

it('turns tokens into nano-dollars', () => {
  const prices = new Prices([{ model: 'm', input: 0.15, cachedInput: 0.075, output: 0.6 }]);
  expect(prices.nanos('m', 1_000_000, 0, 0)).toBe(150_000_000);
  expect(prices.nanos('m', 100, 40, 10)).toBe(60 * 150 + 40 * 75 + 10 * 600);
  expect(prices.nanos('m', 0, 0, 0)).toBe(0);
  expect(prices.nanos('other', 100, 40, 10)).toBe(0);
  expect([prices.has('m'), prices.has('other')]).toEqual([true, false]);
});

it('rounds to whole nano-dollars', () => {
  const prices = new Prices([{ model: 'm', input: 0.0004, cachedInput: 0, output: 0.0006 }]);
  expect([prices.nanos('m', 1, 0, 0), prices.nanos('m', 2, 0, 0), prices.nanos('m', 0, 0, 1)]).toEqual([0, 1, 1]);
});
