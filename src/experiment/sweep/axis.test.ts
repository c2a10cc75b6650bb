import { describe, expect, it } from 'vitest';
import { readAxisValues } from './axis.js';

const values = (text: string, isWhole = false) => {
  const read = readAxisValues(text, '--axis x', isWhole);
  return read.kind === 'list' ? read.values : read;
};

describe('readAxisValues', () => {
  it.each<[string, string[]]>([
    ['4,6, 8', ['4', '6', '8']],
    ['4,4', ['4']],
    ['round-robin', ['round-robin']],
    ['1,1,2;1,2,2', ['1,1,2', '1,2,2']],
    ['10..40:10', ['10', '20', '30', '40']],
    ['10..45:10', ['10', '20', '30', '40']],
    ['0.1..0.3:0.1', ['0.1', '0.2', '0.3']],
    ['-1..1:1', ['-1', '0', '1']],
    ['1..1000:log4', ['1', '10', '100', '1000']],
    ['1e2..3e2:1e2', ['100', '200', '300']],
  ])('reads %s', (text, expected) => {
    expect(values(text)).toEqual(expected);
  });

  it('rounds ranges of settings that take whole numbers', () => {
    expect(values('1..10:log4', true)).toEqual(['1', '2', '5', '10']);
  });

  it('keeps a range without a step for samples', () => {
    expect(values('10..100')).toEqual({ kind: 'span', from: 10, to: 100, isLog: false, isWhole: false });
    expect(values('10..100:log', true)).toEqual({ kind: 'span', from: 10, to: 100, isLog: true, isWhole: true });
  });

  it.each([
    ['', 'has no values'],
    ['4,,6', "has an empty value in '4,,6'"],
    ['10..5:1', 'ends at or before its start'],
    ['10..20:0', 'has a step that is no number above 0'],
    ['10..20:', 'has a step that is no number above 0'],
    ['0..20:log3', 'does not start above 0'],
    ['1..20:log1', "has no number of values from 2 to 10000 after 'log'"],
    ['0..1e9:1', 'more than 10000'],
    ['1e..5:1', 'has a bound that is no number'],
  ])('refuses %s', (text, problem) => {
    expect(() => values(text)).toThrow(expect.objectContaining({ code: 'BAD_AXIS', place: '--axis x' }));
    expect(() => values(text)).toThrow(problem);
  });
});
