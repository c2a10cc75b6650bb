import { describe, expect, it } from 'vitest';
import { readClassDurations, readClassMicroseconds, readCoefficients, readDuration, readWeights } from './read-list.js';

describe('readDuration', () => {
  it.each([
    ['200ms', 200_000],
    ['1.5s', 1_500_000],
    ['300us', 300],
    ['300µs', 300],
    ['2m', 120_000_000],
    ['1h', 3_600_000_000],
    ['1h30m', 5_400_000_000],
  ])('%s', (text, us) => {
    expect(readDuration(text, '--slo-ttft')).toBe(us);
  });

  it.each([
    ['200', 'has no unit'],
    ['fast', 'is not a duration'],
    ['', 'is not a duration'],
    ['-5ms', 'is not a duration'],
    ['0s', 'is shorter than a microsecond'],
    ['99999999999999s', 'is too large'],
  ])('refuses %j', (text, problem) => {
    expect(() => readDuration(text, '--slo-ttft')).toThrow(problem);
  });
});

describe('lists', () => {
  it('reads classes with durations', () => {
    expect(readClassDurations('500ms', '--slo-ttft')).toEqual({ '*': 500_000 });
    expect(readClassDurations('1s,batch=5s', '--slo-ttft')).toEqual({ '*': 1_000_000, batch: 5_000_000 });
    expect(readClassDurations('critical=200ms, batch=5s', '--slo-ttft')).toEqual({
      critical: 200_000,
      batch: 5_000_000,
    });
  });

  it('reads classes with microseconds', () => {
    expect(readClassMicroseconds('critical=100000,a=b=7', '--slo-targets')).toEqual({ critical: 100_000, 'a=b': 7 });
  });

  it('names the class with a bad value', () => {
    expect(() => readClassDurations('critical=1s,batch=5', '--slo-ttft')).toThrow(
      "--slo-ttft (batch): '5' has no unit",
    );
    expect(() => readClassMicroseconds('batch=0', '--slo-targets')).toThrow("--slo-targets (batch): '0' is too small");
  });

  it.each(['critical', '=5ms', 'a=1ms,,b=2ms', ''])('refuses %j as pairs', (text) => {
    expect(() => readClassDurations(text, '--slo-ttft')).toThrow('is not of the form name=value');
  });

  it('refuses a class that appears twice', () => {
    expect(() => readClassDurations('a=1ms,a=2ms', '--slo-ttft')).toThrow("'a' appears twice");
  });

  it('keeps a class called __proto__', () => {
    expect(Object.keys(readClassDurations('__proto__=1ms', '--slo-ttft'))).toEqual(['__proto__']);
  });

  it('reads weights of known measures only', () => {
    const known = ['throughput', 'tokens_per_sec', 'p99_ttft'];
    expect(readWeights('throughput:0.7,p99_ttft:1', '--w', known)).toEqual({ throughput: 0.7, p99_ttft: 1 });
    expect(() => readWeights('throughput:-1', '--w', known)).toThrow("'-1' is too small; give a number above 0");
    expect(() => readWeights('throughput:0', '--w', known)).toThrow('is too small; give a number above 0');
    expect(() => readWeights('p99_tft:1', '--w', known)).toThrow("did you mean 'p99_ttft'? known: throughput");
    expect(() => readWeights('throughput:nan', '--w', known)).toThrow("--w (throughput): 'nan' is not a number");
  });

  it('reads coefficients and counts them', () => {
    expect(readCoefficients('1000, 200,1e1', '--alpha-coeffs', 3, 3)).toEqual([1000, 200, 10]);
    expect(() => readCoefficients('1,2', '--alpha-coeffs', 3, 3)).toThrow('has 2 values; give 3 numbers');
    expect(() => readCoefficients('1', '--beta-coeffs', 7, 11)).toThrow('has 1 value; give 7 to 11 numbers');
    expect(() => readCoefficients('1,x,3', '--alpha-coeffs', 3, 3)).toThrow("'x' is not a number");
  });
});
