import { describe, expect, it } from 'vitest';
import { describeBounds, readNumber } from './read-number.js';

const COUNT = { min: 1, max: Number.MAX_SAFE_INTEGER, whole: true };

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
    ['-3', 'is negative'],
    ['0', 'is too small'],
    ['9007199254740993', 'is too large'],
    ['1e400', 'is too large'],
  ])('refuses the count %j', (text, problem) => {
    expect(() => readNumber(text, '--n', COUNT)).toThrowError(
      expect.objectContaining({ code: 'BAD_VALUE', place: '--n', problem: expect.stringContaining(problem) }),
    );
  });

  it('names the upper limit of what is too large', () => {
    const limit = (text: string, max: number, whole: boolean) => () => readNumber(text, '--n', { min: 0, max, whole });
    expect(limit('1e300', Number.MAX_SAFE_INTEGER, true)).toThrow('at least 0, at most 9007199254740991');
    expect(limit('1e400', Number.POSITIVE_INFINITY, false)).toThrow('at least 0, at most 1.79');
    expect(limit('65', 64, true)).toThrow('give a whole number from 0 to 64');
  });

  it('keeps open bounds open', () => {
    const positive = { min: 0, max: 10, above: true };
    expect(readNumber('10', '--x', positive)).toBe(10);
    expect(() => readNumber('0', '--x', positive)).toThrow("'0' is too small");
    expect(() => readNumber('10.5', '--x', positive)).toThrow('is too large');
  });

  it('has no negative zero', () => {
    expect(Object.is(readNumber('-0', '--x', { min: 0, max: 1 }), 0)).toBe(true);
  });
});

describe('describeBounds', () => {
  it.each([
    [COUNT, 'a whole number of at least 1'],
    [{ min: 1, max: 64, whole: true }, 'a whole number from 1 to 64'],
    [{ min: 0, max: Number.POSITIVE_INFINITY, above: true }, 'a number above 0'],
    [{ min: 0, max: 1, above: true }, 'a number above 0 and up to 1'],
    [{ min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY }, 'a number'],
    [{ min: Number.NEGATIVE_INFINITY, max: 7 }, 'a number up to 7'],
  ])('%j', (bounds, text) => {
    expect(describeBounds(bounds)).toBe(text);
  });
});
