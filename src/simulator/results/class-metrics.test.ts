import { describe, expect, it } from 'vitest';
import { classMetrics } from './class-metrics.js';
import { type FakeOutcome, fakeOutcomes } from './fake-outcomes.fixture.js';
import { itlMeanUs, RequestSampler } from './request-sample.js';

function metricsOf(...list: FakeOutcome[]) {
  const { table, outcomes } = fakeOutcomes(list);
  const sampler = new RequestSampler(outcomes, table.count);
  return classMetrics(table, sampler, sampler.sample(null));
}

describe('itlMeanUs', () => {
  const meanOf = (outcome: FakeOutcome) => itlMeanUs(fakeOutcomes([outcome]).outcomes, 0);

  it('divides by the gaps between tokens', () => {
    expect(meanOf({ e2e: 100, itlSum: 60, tokens: 4 })).toBe(20);
  });

  it('is 0 for a request with one token or none', () => {
    expect([meanOf({ e2e: 100, tokens: 1 }), meanOf({ e2e: 100, tokens: 0 })]).toEqual([0, 0]);
  });

  it('divides by one gap less when the request was cut off for its length', () => {
    expect(meanOf({ e2e: 100, itlSum: 60, tokens: 5, status: 'length_capped' })).toBe(20);
  });

  it('does not exist for a request that did not complete', () => {
    expect(meanOf({ ttft: 10 })).toBeNaN();
  });
});

describe('classMetrics', () => {
  it('gives mean and p99 per class in microseconds, classes sorted by name', () => {
    const metrics = metricsOf(
      { slo: 'critical', ttft: 10, e2e: 100, itlSum: 80, tokens: 3 },
      { slo: 'batch', ttft: 30, e2e: 300, itlSum: 10, tokens: 2 },
      { slo: 'batch', ttft: 10, e2e: 100, itlSum: 30, tokens: 2 },
    );
    expect(Object.keys(metrics)).toEqual(['batch', 'critical']);
    expect(metrics.batch).toEqual({
      count: 2,
      ttft: { mean_us: 20, p99_us: 29.8 },
      itl: { mean_us: 20, p99_us: 29.8 },
      e2e: { mean_us: 200, p99_us: 298 },
    });
    expect(metrics.critical!.itl).toEqual({ mean_us: 40, p99_us: 40 });
  });

  it("calls requests without a class 'default'", () => {
    expect(metricsOf({ ttft: 10, e2e: 100 })).toMatchObject({ default: { count: 1, e2e: { mean_us: 100 } } });
  });

  it("puts requests without a class together with those of a class named 'default'", () => {
    const metrics = metricsOf({ ttft: 10, e2e: 100 }, { slo: 'default', ttft: 30, e2e: 300 });
    expect(metrics).toMatchObject({ default: { count: 2, e2e: { mean_us: 200 } } });
  });

  it('counts first tokens of requests that did not complete, but not the requests', () => {
    const metrics = metricsOf({ slo: 'a', ttft: 10, e2e: 100 }, { slo: 'a', ttft: 20, status: 'timed_out' });
    expect(metrics.a).toMatchObject({ count: 1, ttft: { mean_us: 15 } });
  });

  it('leaves out classes without a completed request', () => {
    expect(metricsOf({ slo: 'a', ttft: 20 }, { slo: 'b', ttft: 1, e2e: 2 })).not.toHaveProperty('a');
  });

  it('is empty when nothing completed', () => {
    expect(metricsOf({ ttft: 20 })).toEqual({});
  });
});
