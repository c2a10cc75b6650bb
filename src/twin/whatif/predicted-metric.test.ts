import { describe, expect, it } from 'vitest';
import { gaussian } from '../../kernel/distributions.js';
import { randomStream, type SavableStream } from '../../kernel/random-stream.js';
import { type AskedMetric, predictMetric } from './predicted-metric.js';
import type { MetricRow } from './recorded-metrics.js';

const BASELINE = { metric: 'ttft_mean_ms', measured: 100, simulated: 100, error: 0 } as const;
const row = (value: number) => ({ ttft_mean_ms: value }) as MetricRow;

/** Runs around 100, whose chance is larger than everything else that an interval has. */
function asked(values: readonly number[]): AskedMetric {
  const runs = values.map(row);
  return { runs, plain: runs, least: runs, most: runs, usual: runs, fast: runs, slow: runs };
}

/** The share of further runs that are inside the interval of `count` runs. */
function covered(count: number, draw: (random: SavableStream) => number): number {
  const random = randomStream(1, 'runs');
  let inside = 0;
  const tries = 3000;
  for (let i = 0; i < tries; i++) {
    const { high, low } = predictMetric(BASELINE, 100, asked(Array.from({ length: count }, () => draw(random))));
    const next = draw(random);
    if (next >= low && next <= high) inside++;
  }
  return inside / tries;
}

describe('the interval of a prediction', () => {
  it.each([5, 7, 11, 31])('of %i runs holds a further one in about 95 of 100 cases', (count) => {
    const share = covered(count, (random) => 100 + 15 * gaussian(random));
    expect(share).toBeGreaterThan(0.93);
    expect(share).toBeLessThan(0.985);
  });

  it('is longer on the side on which runs are far off', () => {
    const { high, low, predicted } = predictMetric(BASELINE, 100, asked([99, 100, 99, 101, 180, 100, 101]));
    expect(predicted).toBe(100);
    expect(high - predicted).toBeGreaterThan(60);
    expect(predicted - low).toBeLessThan(10);
  });

  it('is wider for step times that are not known, and for a baseline that is off', () => {
    const runs = asked([100, 100, 100, 100, 100]);
    const width = (of: AskedMetric, error = 0) => {
      const { high, low } = predictMetric({ ...BASELINE, error }, 100, of);
      return high - low;
    };
    const usual = width(runs);
    expect(width({ ...runs, slow: runs.runs.map(() => row(120)) })).toBeGreaterThan(usual + 15);
    expect(width(runs, 0.1)).toBeGreaterThan(20);
  });
});
