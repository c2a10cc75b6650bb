import { describe, expect, it } from 'vitest';
import { above, number, whole } from '../../schema/fields.js';
import { readNumber } from './read-number.js';

const COUNT = whole(1);

describe('readNumber', () => {
  it.each([
    ['7', 7],
    ['1e3', 1000],
    [' 12 ', 12],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('reads the count %j', (text, value) => {
    expect(readNumber(text, '--n', COUNT)).toBe(value);
  });

  it.each([
    ['', 'is not a number'],
    ['NaN', 'is not a number'],
    ['Infinity', 'is not a number'],
    ['0x10', 'is not a number'],
    ['1,5', 'is not a number'],
    ['12abc', 'is not a number'],
    ['1.5', 'is not a whole number'],
    ['-3', 'is too small'],
    ['0', 'is too small'],
    ['9007199254740993', 'is too large'],
    ['1e400', 'is too large'],
  ])('refuses the count %j', (text, problem) => {
    expect(() => readNumber(text, '--n', COUNT)).toThrowError(
      expect.objectContaining({ code: 'BAD_VALUE', place: '--n', problem: expect.stringContaining(problem) }),
    );
  });

  it('names the upper limit of what is too large', () => {
    const limit = (text: string, schema: Parameters<typeof readNumber>[2]) => () => readNumber(text, '--n', schema);
    expect(limit('1e300', whole(0))).toThrow('at least 0, at most 9007199254740991');
    expect(limit('1e400', number(0))).toThrow('at least 0, at most 1.79');
    expect(limit('65', whole(0, 64))).toThrow('give a whole number from 0 to 64');
  });

  it('keeps open bounds open', () => {
    const positive = above(0, 10);
    expect(readNumber('10', '--x', positive)).toBe(10);
    expect(() => readNumber('0', '--x', positive)).toThrow("'0' is too small");
    expect(() => readNumber('10.5', '--x', positive)).toThrow('is too large');
  });

  it('has no negative zero', () => {
    expect(Object.is(readNumber('-0', '--x', number(0, 1)), 0)).toBe(true);
  });
});
