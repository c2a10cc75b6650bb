import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { parseThinkTime, thinkTimeOf } from './think-time.js';

const parse = (text: string) => parseThinkTime(text, randomStream(42, 'think-time'));

describe('parseThinkTime', () => {
  it.each([
    ['constant:value=500ms', 500_000],
    ['constant:value=3s', 3_000_000],
    ['constant:value=1m30s', 90_000_000],
    ['constant:value=1.5h', 5_400_000_000],
    ['constant:value=250us', 250],
    ['constant:value=250µs', 250],
    ['constant:value=1500ns', 2],
    ['constant:value=0', 0],
    ['constant: value = .5s', 500_000],
  ])('%s is always %d us', (text, us) => {
    const next = parse(text);
    expect([next(), next()]).toEqual([us, us]);
  });

  it('draws whole microseconds around e^mu seconds', () => {
    const next = parse('lognormal:mu=2,sigma=0.3');
    const pauses = Array.from({ length: 20_001 }, next).sort((a, b) => a - b);
    expect(pauses.every(Number.isInteger)).toBe(true);
    expect(pauses[10_000]! / 1e6 / Math.exp(2)).toBeCloseTo(1, 1);
    expect(new Set(pauses).size).toBeGreaterThan(1000);
  });

  it('keeps within its bounds', () => {
    const next = parse('lognormal:mu=2,sigma=3,min=3s,max=30s');
    const pauses = Array.from({ length: 1000 }, next);
    expect(Math.min(...pauses)).toBe(3_000_000);
    expect(Math.max(...pauses)).toBe(30_000_000);
  });

  it('never draws more than a clock can hold', () => {
    const pauses = Array.from({ length: 100 }, parse('lognormal:mu=20,sigma=20'));
    expect(Math.max(...pauses)).toBe(1e15);
  });

  it('draws the same again from the same seed', () => {
    const first = Array.from({ length: 5 }, parse('lognormal:mu=1,sigma=1'));
    expect(Array.from({ length: 5 }, parse('lognormal:mu=1,sigma=1'))).toEqual(first);
  });

  it.each([
    ['lognorml:mu=1,sigma=1', "unknown distribution 'lognorml'", "'lognormal'"],
    ['', "unknown distribution ''", 'constant'],
    ['toString:value=1s', 'unknown distribution', 'constant'],
    ['lognormal', "needs 'mu'", 'lognormal:mu='],
    ['lognormal:', "needs 'mu'", 'lognormal:mu='],
    ['lognormal:mu=1', "needs 'sigma'", 'lognormal:mu='],
    ['lognormal:mu=1,sigma=1,maxx=3s', "unknown parameter 'maxx'", "'max'"],
    ['lognormal:mu=1,mu=2,sigma=1', "'mu' is given twice", 'once'],
    ['lognormal:mu,sigma=1', "'mu' is not key=value", 'lognormal:mu='],
    ['lognormal:mu=one,sigma=1', "mu 'one' is not a number", 'lognormal:mu='],
    ['lognormal:mu=,sigma=1', "mu '' is not a number", 'lognormal:mu='],
    ['lognormal:mu=1e300,sigma=1', 'mu 1e+300 is too large', 'at most 20'],
    ['lognormal:mu=1,sigma=1e300', 'sigma 1e+300 is too large', 'at most 20'],
    ['lognormal:mu=1,sigma=-1', 'sigma -1 is negative', '0 or more'],
    ['lognormal:mu=1,sigma=1,min=5', "min '5' is not a duration", 'unit'],
    ['lognormal:mu=1,sigma=1,min=5s,max=3s', 'longer than max', 'swap'],
    ['constant:value=-5s', 'not a duration', 'unit'],
    ['constant:value=5 s', 'not a duration', 'unit'],
    ['constant:value=5s3', 'not a duration', 'unit'],
    ['constant:value=999999999h', 'not a duration', 'unit'],
  ])('refuses %j', (text, problem, hint) => {
    expect(() => parse(text)).toThrowError(
      expect.objectContaining({
        code: 'THINK_TIME_INVALID',
        place: '--think-time-dist',
        problem: expect.stringContaining(problem),
        hint: expect.stringContaining(hint),
      }),
    );
  });
});

describe('thinkTimeOf', () => {
  it('is nothing without flags, and constant with milliseconds', () => {
    expect(thinkTimeOf({}, 42)).toBeNull();
    expect(thinkTimeOf({ thinkTimeMs: 0 }, 42)!()).toBe(0);
    expect(thinkTimeOf({ thinkTimeMs: 1.5 }, 42)!()).toBe(1500);
  });

  it('draws from its own stream', () => {
    const text = 'lognormal:mu=1,sigma=1';
    expect(thinkTimeOf({ thinkTimeDist: text }, 42)!()).toBe(parse(text)());
    expect(thinkTimeOf({ thinkTimeDist: text }, 43)!()).not.toBe(parse(text)());
  });

  it.each([
    [{ thinkTimeMs: 5, thinkTimeDist: 'constant:value=1s' }, '--think-time-dist'],
    [{ thinkTimeMs: -1 }, '--think-time-ms'],
    [{ thinkTimeMs: Number.NaN }, '--think-time-ms'],
  ])('refuses %j', (flags, place) => {
    expect(() => thinkTimeOf(flags, 42)).toThrowError(expect.objectContaining({ place }));
  });
});
