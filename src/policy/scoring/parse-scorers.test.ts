import { describe, expect, it } from 'vitest';
import { lonePrefixAffinityWarning, parseScorers } from './parse-scorers.js';

describe('parseScorers', () => {
  it('reads text and lists in the same way and keeps the order', () => {
    const expected = [
      { name: 'queue-depth', weight: 2 },
      { name: 'prefix-affinity', weight: 0.5 },
    ];
    expect(parseScorers('queue-depth:2,prefix-affinity:0.5', 'test')).toEqual(expected);
    expect(parseScorers(' queue-depth : 2 , prefix-affinity : 5e-1 ', 'test')).toEqual(expected);
    expect(parseScorers(expected, 'test')).toEqual(expected);
  });

  it.each([
    ['queue-dept:2', 'UNKNOWN_SCORER', "did you mean 'queue-depth'?"],
    ['queue-dept', 'UNKNOWN_SCORER', "did you mean 'queue-depth'?"],
    ['queue-depth:2,,kv-utilization:1', 'BAD_SCORER_LIST', 'one comma'],
    ['queue-depth:1,', 'BAD_SCORER_LIST', 'one comma'],
    ['queue-depth:1e308,kv-utilization:1e308', 'BAD_SCORER_WEIGHT', 'smaller weights'],
    ['queue-depth:2,queue-depth:1', 'DUPLICATE_SCORER', 'once'],
    ['queue-depth', 'BAD_SCORER_WEIGHT', 'queue-depth:1'],
    ['queue-depth:', 'BAD_SCORER_WEIGHT', 'queue-depth:1'],
    ['queue-depth:0', 'BAD_SCORER_WEIGHT', 'above 0'],
    ['queue-depth:-1', 'BAD_SCORER_WEIGHT', 'above 0'],
    ['queue-depth:much', 'BAD_SCORER_WEIGHT', 'above 0'],
    ['queue-depth:1:2', 'BAD_SCORER_WEIGHT', 'above 0'],
    ['queue-depth:Infinity', 'BAD_SCORER_WEIGHT', 'above 0'],
    ['queue-depth:1e999', 'BAD_SCORER_WEIGHT', 'above 0'],
    ['', 'NO_SCORERS', 'at least one'],
    ['  ', 'NO_SCORERS', 'at least one'],
  ])('refuses %j', (text, code, hint) => {
    expect(() => parseScorers(text, '--routing-scorers')).toThrow(
      expect.objectContaining({ code, place: '--routing-scorers', hint: expect.stringContaining(hint) }),
    );
  });

  it('quotes the weight as it was written', () => {
    expect(() => parseScorers('queue-depth:much', 'x')).toThrow("weight 'much' of scorer 'queue-depth'");
  });

  it('reports a comma too many', () => {
    expect(() => parseScorers('queue-depth:1,', 'x')).toThrow('the list ends with a comma');
    expect(() => parseScorers(',queue-depth:1', 'x')).toThrow('a comma has no scorer before it');
  });

  it('checks lists as well', () => {
    expect(() => parseScorers([], 'x')).toThrow(expect.objectContaining({ code: 'NO_SCORERS' }));
    for (const weight of [0, -2, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => parseScorers([{ name: 'queue-depth', weight }], 'bundle.yaml:9')).toThrow(
        expect.objectContaining({ code: 'BAD_SCORER_WEIGHT', place: 'bundle.yaml:9' }),
      );
    }
  });
});

describe('lonePrefixAffinityWarning', () => {
  it('warns of prefix-affinity as the only scorer', () => {
    expect(lonePrefixAffinityWarning(parseScorers('prefix-affinity:1', 'x'))).toContain('queue-depth');
    expect(lonePrefixAffinityWarning(parseScorers('queue-depth:1', 'x'))).toBeNull();
    expect(lonePrefixAffinityWarning(parseScorers('prefix-affinity:3,queue-depth:1', 'x'))).toBeNull();
  });
});
