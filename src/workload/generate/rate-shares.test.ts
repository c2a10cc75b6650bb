import { describe, expect, it } from 'vitest';
import type { WindowSpec } from '../spec/workload-spec.js';
import { RateShares } from './rate-shares.js';
import { client, cohort, specOf } from './test-spec.fixture.js';

const during = (...windows: WindowSpec[]) => ({ lifecycle: { windows } });

describe('RateShares', () => {
  it('divides the rate by the shares, 1 where none is given; users have none', () => {
    const a = client('a', { rate_fraction: 3 });
    const b = client('b');
    const crowd = cohort('crowd', 50, { rate_fraction: 4 });
    const shares = new RateShares(
      specOf([a, b, client('users', { concurrency: 9 })], { aggregate_rate: 16, cohorts: [crowd] }),
    );
    expect([a, b, crowd].map((traffic) => shares.rateOf(traffic))).toEqual([6, 2, 8]);
  });

  it('counts only clients that are active at the same time', () => {
    const always = client('always', { rate_fraction: 2 });
    const morning = client('morning', { rate_fraction: 1, ...during({ start_us: 0, end_us: 10 }) });
    const evening = client('evening', { rate_fraction: 1, ...during({ start_us: 10, end_us: 20 }) });
    const shares = new RateShares(specOf([always, morning, evening], { aggregate_rate: 12 }));
    expect(shares.rateOf(morning)).toBe(4);
    expect(shares.rateOf(evening)).toBe(4);
    expect(shares.rateOf(always)).toBe(6);
  });

  it('takes the rate of a window as its share, or as it is without a rate to divide', () => {
    const first = { start_us: 0, end_us: 10, trace_rate: 3 };
    const second = { start_us: 10, end_us: 20 };
    const busy = client('busy', { rate_fraction: 1, ...during(first, second) });
    const other = client('other', { rate_fraction: 1, ...during({ start_us: 0, end_us: 20 }) });
    const late = client('late', { rate_fraction: 5, ...during({ start_us: 40, end_us: 50, trace_rate: 9 }) });
    const shares = new RateShares(specOf([busy, other, late], { aggregate_rate: 8 }));
    expect(shares.rateIn(busy, first)).toBe(6);
    expect(shares.rateIn(busy, second)).toBe(4);
    expect(shares.rateOf(other)).toBe(2);
    expect(new RateShares(specOf([busy], { aggregate_rate: 0 })).rateIn(busy, first)).toBe(3);
  });
});
