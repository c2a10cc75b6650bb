import { describe, expect, it } from 'vitest';
import { type FakeOutcome, fakeOutcomes } from './fake-outcomes.fixture.js';
import { sessionMetrics } from './session-metrics.js';

function metricsOf(...list: FakeOutcome[]) {
  const { table, outcomes } = fakeOutcomes(list);
  return sessionMetrics(table, outcomes);
}

describe('sessionMetrics', () => {
  it('is undefined when no request belongs to a session', () => {
    expect(metricsOf({ e2e: 1 })).toBeUndefined();
  });

  it('separates first turns from later ones, in milliseconds', () => {
    const metrics = metricsOf(
      { session: 'a', round: 0, ttft: 4000, e2e: 5000 },
      { session: 'a', round: 1, ttft: 1000, e2e: 2000 },
      { session: 'b', round: 0, ttft: 8000, e2e: 9000 },
      { ttft: 77_000, e2e: 78_000 },
    )!;
    expect(metrics.count).toBe(2);
    expect(metrics.ttft_cold_ms).toEqual({ mean: 6, p50: 6, p95: 7.8, p99: 7.96 });
    expect(metrics.ttft_warm_ms).toEqual({ mean: 1, p50: 1, p95: 1, p99: 1 });
  });

  it('measures a session from its first arrival to its last completion', () => {
    const metrics = metricsOf(
      { session: 'a', round: 0, at: 1000, ttft: 1, e2e: 2000 },
      { session: 'a', round: 2, at: 9000, ttft: 1, e2e: 4000 },
      { session: 'a', round: 1, at: 5000, ttft: 1, e2e: 500 },
    )!;
    expect(metrics.duration_ms.mean).toBe(12);
  });

  it('leaves out durations of sessions that never began or completed nothing', () => {
    const metrics = metricsOf(
      { session: 'no-beginning', round: 1, at: 1000, ttft: 1, e2e: 2000 },
      { session: 'no-end', round: 0, at: 1000, ttft: 1 },
      { session: 'whole', round: 0, at: 1000, ttft: 1, e2e: 3000 },
    )!;
    expect([metrics.count, metrics.duration_ms.mean]).toEqual([3, 3]);
  });

  it('is zero where nothing was measured', () => {
    const zero = { mean: 0, p50: 0, p95: 0, p99: 0 };
    expect(metricsOf({ session: 'a' })).toEqual({
      count: 1,
      ttft_cold_ms: zero,
      ttft_warm_ms: zero,
      duration_ms: zero,
    });
  });
});
