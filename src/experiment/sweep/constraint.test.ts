import { describe, expect, it } from 'vitest';
import { contradiction, holds, isOfSettings, parseConstraint } from './constraint.js';
import type { Measure } from './measure.js';

const SETTINGS = ['num-instances', 'tp', 'rate', 'routing-policy', 'policy-config:routing.policy'];
const parsed = (text: string) => parseConstraint(text, '--constraint', SETTINGS);
const at = (values: Record<string, number | string>) => (measure: Measure) =>
  values[measure.kind === 'metric' ? measure.key : measure.name] ?? null;

describe('parseConstraint', () => {
  it.each<[string, Record<string, number | string>, boolean | null]>([
    ['ttft_p99<=500ms', { ttft_p99_ms: 500 }, true],
    ['ttft_p99 < 0.5s', { ttft_p99_ms: 500 }, false],
    ['500ms >= ttft_p99_ms', { ttft_p99_ms: 501 }, false],
    ['rejected_share <= 2%', { rejected_share: 0.02 }, true],
    ['goodput > 10/s', { goodput_rps: 10 }, false],
    ['ttft_p99/critical <= 1s', { 'ttft_p99_ms/critical': 999 }, true],
    ['ttft_p99 <= 500ms', {}, null],
    ['num-instances*tp<=16', { 'num-instances': 8, tp: 2 }, true],
    ['num-instances * tp + 1 <= 16', { 'num-instances': 8, tp: 2 }, false],
    ['(num-instances + 2) * tp = 20', { 'num-instances': 8, tp: 2 }, true],
    ['rate / num-instances - 5 >= 0', { rate: 40, 'num-instances': 8 }, true],
    ['gpus <= 8', { gpus: 9 }, false],
    ['routing-policy != round-robin', { 'routing-policy': 'lmetric' }, true],
    ['routing-policy = lmetric', { 'routing-policy': 'lmetric' }, true],
    ['policy-config:routing.policy = lmetric', { 'policy-config:routing.policy': 'weighted' }, false],
    ['e2e_p99 <= 10 * ttft_p99', { e2e_p99_ms: 100, ttft_p99_ms: 9 }, false],
  ])('reads %s', (text, values, expected) => {
    expect(holds(parsed(text), at(values))).toBe(expected);
  });

  it.each([
    ['ttft_p99', 'compares nothing'],
    ['<= 5', 'compares nothing'],
    ['5 <= 6', 'names neither a metric nor a setting'],
    ['ttft_p99 <= 500ms + ', 'ends early'],
    ['(rate <= 5', "lacks a ')'"],
    ['rate <= 5 6', "has '6' where it cannot be read"],
    ['rate <= 5parsecs', 'where it cannot be read'],
    ['ttft_p98 <= 5', "did you mean 'ttft_p90'?"],
    ['num-instnces <= 5', "did you mean 'num-instances'?"],
  ])('refuses %s', (text, problem) => {
    expect(() => parsed(text)).toThrow(problem);
  });

  it('knows what is decided before a simulation', () => {
    expect(isOfSettings(parsed('gpus <= 8'))).toBe(true);
    expect(isOfSettings(parsed('rate <= goodput'))).toBe(false);
  });
});

describe('contradiction', () => {
  it.each([
    [
      ['ttft_p99 <= 1s', 'rate > 1', '2s <= ttft_p99_ms'],
      ['ttft_p99 <= 1s', '2s <= ttft_p99_ms'],
    ],
    [
      ['rate < 5', 'rate >= 5'],
      ['rate < 5', 'rate >= 5'],
    ],
    [['rate <= 5', 'rate >= 5'], undefined],
    [['rate <= 5', 'tp >= 6'], undefined],
  ])('of %s is %s', (texts, expected) => {
    expect(contradiction(texts.map(parsed))?.map(({ text }) => text)).toEqual(expected);
  });
});
