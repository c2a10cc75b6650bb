import { describe, expect, it } from 'vitest';
import type { MetricDifference } from './metric-difference.js';
import { sentenceOf } from './sentences.js';

const base: MetricDifference = {
  variant: 'b',
  against: 'a',
  metric: 'ttft_p99_ms',
  mean: 110,
  reference: 100,
  difference: 10,
  low: 5,
  high: 15,
  relative: 0.1,
  pairs: 5,
  higher: 5,
  verdict: 'worse',
};

describe('sentenceOf', () => {
  it.each<[string, Partial<MetricDifference>, string]>([
    ['worse', {}, 'b: TTFT p99 is 10.0 % higher than with a (110.0 ms against 100.0 ms; interval +5.0 % to +15.0 %).'],
    [
      'a multiple',
      { mean: 3000, difference: 2900, relative: 29, low: 2000, high: 3800 },
      'b: TTFT p99 is 30.0 times that with a (3,000 ms against 100.0 ms; interval +2,000.0 % to +3,800.0 %).',
    ],
    [
      'noise',
      { verdict: 'noise', low: -5, higher: 3 },
      'b: the difference in TTFT p99 to a is inside the noise (110.0 ms against 100.0 ms; interval -5.0 % to +15.0 %; higher with 3 of 5 seeds).',
    ],
    [
      'a direction without a size',
      { verdict: 'likely-better', mean: 192.7, reference: 3193, low: -3100, high: 500, higher: 0, pairs: 3 },
      'b: TTFT p99 is lower than with a with every seed, size uncertain (192.7 ms against 3,193 ms; interval -97.1 % to +15.7 %).',
    ],
    ['the same', { verdict: 'same', mean: 100 }, 'b: TTFT p99 is the same as with a in every run (100.0 ms).'],
    [
      'a single run',
      { verdict: 'once', low: null, high: null, mean: 90, difference: -10, relative: -0.1 },
      'b: TTFT p99 is 10.0 % lower than with a (90.00 ms against 100.0 ms; one run, so nothing is known about noise).',
    ],
    [
      'a share',
      { metric: 'rejected_share', mean: 0.25, reference: 0, difference: 0.25, low: 0.2, high: 0.3, relative: null },
      'b: rejected share is 25.0 points higher than with a (25.0 % against 0.0 %; interval +20.0 to +30.0 points).',
    ],
    [
      'something where there was nothing',
      {
        metric: 'goodput_rps',
        mean: 2,
        reference: 0,
        difference: 2,
        low: 1,
        high: 3,
        relative: null,
        verdict: 'better',
      },
      'b: goodput is 2.00 higher than with a (2.00 requests/s against 0.00 requests/s; interval +1.00 to +3.00).',
    ],
  ])('says %s', (_, changes, sentence) => {
    expect(sentenceOf({ ...base, ...changes })).toBe(sentence);
  });
});
