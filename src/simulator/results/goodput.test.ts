import { describe, expect, it } from 'vitest';
import type { GoodputTarget } from '../cluster-config.js';
import { type FakeOutcome, fakeOutcomes } from './fake-outcomes.fixture.js';
import { goodput } from './goodput.js';
import { RequestSampler } from './request-sample.js';

function goodputOf(targets: Record<string, GoodputTarget>, list: readonly FakeOutcome[], seconds = 2) {
  const { table, outcomes } = fakeOutcomes(list);
  return goodput(table, outcomes, new RequestSampler(outcomes, table.count), targets, seconds);
}

describe('goodput', () => {
  it('does not exist without targets', () => {
    expect(goodputOf({}, [{ e2e: 1 }])).toBeUndefined();
  });

  it('counts requests that meet every target of their class; on the limit is met', () => {
    const list = [
      { slo: 'a', ttft: 10, e2e: 100 },
      { slo: 'a', ttft: 11, e2e: 100 },
      { slo: 'a', ttft: 10, e2e: 101 },
      { slo: 'a', ttft: 1, e2e: 2 },
    ];
    const result = goodputOf({ a: { ttftUs: 10, e2eUs: 100 } }, list)!;
    expect([result.slo_attainment, result.goodput_rps]).toEqual([2 / 4, 2 / 2]);
    expect(result.per_class.a!.slo_attainment_by_dim).toEqual({ ttft: 3 / 4, e2e: 3 / 4 });
  });

  it('measures the gap between tokens by the mean of each request', () => {
    const list = [
      { slo: 'a', ttft: 1, e2e: 100, itlSum: 60, tokens: 4 },
      { slo: 'a', ttft: 1, e2e: 100, itlSum: 63, tokens: 4 },
    ];
    const result = goodputOf({ a: { itlUs: 20 } }, list)!;
    expect(result.slo_attainment).toBe(0.5);
    expect(result.per_class.a!.itl_mean_ms).toBe((20 + 21) / 2 / 1000);
  });

  it('holds rejected, lost and unfinished requests against the class, but not those that never arrived', () => {
    const list: FakeOutcome[] = [
      { slo: 'a', ttft: 1, e2e: 1 },
      { slo: 'a', status: 'rejected' },
      { slo: 'a', status: 'gateway_expired' },
      { slo: 'a', status: 'running', ttft: 1 },
      { slo: 'a', status: 'not_arrived' },
    ];
    const result = goodputOf({ a: { e2eUs: 10 } }, list)!;
    expect(result.slo_attainment).toBe(1 / 4);
    expect(result.per_class.a).toMatchObject({ count: 4, slo_attainment: 1 / 4, slo_attainment_by_dim: { e2e: 1 } });
  });

  it('leaves out classes without a target', () => {
    const result = goodputOf({ a: { e2eUs: 10 } }, [
      { slo: 'a', ttft: 1, e2e: 1 },
      { slo: 'b', ttft: 1, e2e: 1000 },
    ])!;
    expect(result.slo_attainment).toBe(1);
    expect(Object.keys(result.per_class)).toEqual(['a']);
  });

  it("knows requests without a class as 'default'", () => {
    expect(goodputOf({ default: { e2eUs: 10 } }, [{ ttft: 1, e2e: 1 }])).toMatchObject({
      slo_attainment: 1,
      per_class: { default: { count: 1 } },
    });
  });

  it("counts requests of a class named 'default' with those that have none", () => {
    const list = [
      { ttft: 1, e2e: 1 },
      { slo: 'default', ttft: 1, e2e: 1 },
    ];
    expect(goodputOf({ default: { e2eUs: 10 } }, list)!.per_class.default!.count).toBe(2);
  });

  it('gives tails per class in milliseconds', () => {
    const list = [
      { slo: 'a', ttft: 1000, e2e: 4000 },
      { slo: 'a', ttft: 2000, e2e: 5000 },
    ];
    expect(goodputOf({ a: { e2eUs: 9000 } }, list)!.per_class.a).toMatchObject({
      ttft_p99_ms: 1.99,
      e2e_p99_ms: 4.99,
      goodput_rps: 1,
    });
  });

  it('is zero for a class of which nothing came, and in no time', () => {
    const none = goodputOf({ ghost: { e2eUs: 10 } }, [{ slo: 'a', e2e: 1 }])!;
    expect(none).toMatchObject({ slo_attainment: 0, goodput_rps: 0, per_class: { ghost: { count: 0 } } });
    expect(goodputOf({ a: { e2eUs: 10 } }, [{ slo: 'a', ttft: 1, e2e: 1 }], 0)!.goodput_rps).toBe(0);
  });
});
