import { expect, it } from 'vitest';
import { sourceOf, WrongKeys } from './wrong-keys.js';

it('remembers a bounded number of addresses', () => {
  const wrong = new WrongKeys(1, 3);
  for (const address of ['a', 'b', 'c']) expect(wrong.count(address, 0)).toBe(0);
  expect(wrong.count('b', 1)).toBe(60);
  expect(wrong.count('d', 2)).toBe(0);
  expect(wrong.size).toBe(3);
  expect(wrong.count('b', 3)).toBe(60);
  // Forgotten, so it starts at zero, and the oldest is evicted for it.
  expect(wrong.count('a', 4)).toBe(0);
  expect(wrong.count('b', 5)).toBe(0);
});

it('resets after a minute, or when the clock was set back', () => {
  const wrong = new WrongKeys(0);
  expect(wrong.count('a', 1000)).toBe(60);
  expect(wrong.count('a', 60_999)).toBe(1);
  wrong.mostPerMinute = 1;
  expect(wrong.count('a', 61_000)).toBe(0);
  expect(wrong.count('a', 61_000)).toBe(60);
  expect(wrong.count('a', 500)).toBe(0);
});

it('counts the addresses of a network together, even after it has forgotten them', () => {
  const wrong = new WrongKeys(2, 2);
  expect([wrong.count('2001:db8::1', 0), wrong.count('2001:db8::2', 0)]).toEqual([0, 0]);
  expect([wrong.count('2001:db8::3', 0), wrong.count('2001:db8::1', 0)]).toEqual([60, 60]);
  expect([wrong.count('10.0.0.1', 0), wrong.count('::ffff:10.0.0.1', 0), wrong.size]).toEqual([0, 0, 2]);
  expect(wrong.count('10.0.0.1', 0)).toBe(60);
});

it.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:0:1::7', '2001:db8:0:1'],
  ['2001:0DB8:0000:0001:aaaa:bbbb:cccc:dddd', '2001:db8:0:1'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1'],
  ['::1', '0:0:0:0'],
  ['fe80::', 'fe80:0:0:0'],
  ['not an address', 'not an address'],
  ['', ''],
])('takes %s for %s', (address, source) => {
  expect(sourceOf(address)).toBe(source);
});
