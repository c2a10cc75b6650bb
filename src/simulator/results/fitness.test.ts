import { describe, expect, it } from 'vitest';
import type { ServingMetrics } from '../result-document.js';
import { FITNESS_TERMS, fitness } from './fitness.js';

const METRICS = {
  responses_per_sec: 25,
  tokens_per_sec: 30_000,
  ttft_p99_ms: 50,
  ttft_p50_ms: 1,
  ttft_mean_ms: 3,
  e2e_p99_ms: 99,
  e2e_p50_ms: 0,
  e2e_mean_ms: 9,
} as ServingMetrics;

const term = (name: string) => FITNESS_TERMS[name]!(METRICS);

describe('terms', () => {
  it('bring latencies to 0..1: a first token after 50 ms is worth 1/51', () => {
    expect(term('p99_ttft')).toBe(1 / 51);
    expect([term('p50_ttft'), term('mean_ttft')]).toEqual([1 / 2, 1 / 4]);
    expect([term('p99_e2e'), term('p50_e2e'), term('mean_e2e')]).toEqual([1 / 100, 1, 1 / 10]);
  });

  it('bring rates to 0..1: 100 requests or 10000 tokens per second are worth one half', () => {
    expect([term('throughput'), term('tokens_per_sec')]).toEqual([25 / 125, 30_000 / 40_000]);
    const at = { ...METRICS, responses_per_sec: 100, tokens_per_sec: 10_000 };
    expect([FITNESS_TERMS.throughput!(at), FITNESS_TERMS.tokens_per_sec!(at)]).toEqual([0.5, 0.5]);
  });
});

describe('fitness', () => {
  it('is the weighted sum, with its terms in order of name', () => {
    const result = fitness({ throughput: 2, p50_ttft: 0.5 }, METRICS)!;
    expect(result.score).toBe(0.5 * 0.5 + 2 * 0.2);
    expect(Object.entries(result.terms)).toEqual([
      ['p50_ttft', 0.5],
      ['throughput', 0.2],
    ]);
  });

  it('does not exist without weights', () => {
    expect(fitness({}, METRICS)).toBeUndefined();
  });
});
