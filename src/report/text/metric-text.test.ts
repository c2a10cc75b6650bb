import { describe, expect, it } from 'vitest';
import type { MetricDifference } from '../../experiment/comparison/metric-difference.js';
import type { Metric } from '../../experiment/metrics.js';
import { amount, amountWithUnit, changeText, intervalText } from './metric-text.js';

const ms: Metric = { key: 'ttft_p99_ms', title: 'TTFT p99', unit: 'ms', better: 'less' };
const share: Metric = { ...ms, unit: 'share' };
const bare: Metric = { ...ms, unit: '' };

const difference = (mean: number, reference: number, half: number | null = 1) =>
  ({
    mean,
    reference,
    difference: mean - reference,
    relative: reference === 0 ? null : (mean - reference) / reference,
    low: half === null ? null : mean - reference - half,
    high: half === null ? null : mean - reference + half,
  }) as MetricDifference;

describe('amounts', () => {
  it('have as many digits as they need', () => {
    expect([1.234, 123.45, 12_345.6].map((value) => amount(ms, value))).toEqual(['1.23', '123.5', '12,346']);
  });

  it('carry their unit; shares are per cent', () => {
    expect([amountWithUnit(ms, 5), amountWithUnit(share, 0.125), amountWithUnit(bare, 3)]).toEqual([
      '5.00 ms',
      '12.5 %',
      '3.00',
    ]);
  });
});

describe('changeText', () => {
  it.each<[string, Metric, number, number]>([
    ['+10.0 %', ms, 110, 100],
    ['-99.0 %', ms, 1, 100],
    ['x 3.0', ms, 300, 100],
    ['+5.00', ms, 5, 0],
    ['-12.5 points', share, 0.125, 0.25],
    ['0.0 %', ms, 100.00001, 100],
  ])('is %s', (text, metric, mean, reference) => {
    expect(changeText(metric, difference(mean, reference))).toBe(text);
  });
});

describe('intervalText', () => {
  it.each<[string, Metric, number, number, number | null]>([
    ['+9.0 % to +11.0 %', ms, 110, 100, 1],
    ['-1.0 % to +1.0 %', ms, 100, 100, 1],
    ['+4.00 to +6.00', ms, 5, 0, 1],
    ['+5.0 to +15.0 points', share, 0.3, 0.2, 0.05],
    ['', ms, 110, 100, null],
  ])('is %s', (text, metric, mean, reference, half) => {
    expect(intervalText(metric, difference(mean, reference, half))).toBe(text);
  });
});
