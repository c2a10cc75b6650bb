import type { ServingMetrics } from '../result-document.js';

const REFERENCE_RPS = 100;
const REFERENCE_TPS = 10_000;

/** Lower is better: 1 at 0, one half at 1 ms. */
const latency = (ms: number) => 1 / (1 + ms);
/** Higher is better: one half at the reference. */
const rate = (value: number, reference: number) => value / (value + reference);

/** What `--fitness-weights` can weigh, each brought to 0..1. */
export const FITNESS_TERMS: Record<string, (m: ServingMetrics) => number> = {
  throughput: (m) => rate(m.responses_per_sec, REFERENCE_RPS),
  tokens_per_sec: (m) => rate(m.tokens_per_sec, REFERENCE_TPS),
  p99_ttft: (m) => latency(m.ttft_p99_ms),
  p50_ttft: (m) => latency(m.ttft_p50_ms),
  mean_ttft: (m) => latency(m.ttft_mean_ms),
  p99_e2e: (m) => latency(m.e2e_p99_ms),
  p50_e2e: (m) => latency(m.e2e_p50_ms),
  mean_e2e: (m) => latency(m.e2e_mean_ms),
};

/** One number for a run, higher is better; undefined without weights. */
export function fitness(weights: Record<string, number>, metrics: ServingMetrics) {
  const names = Object.keys(weights).sort();
  if (names.length === 0) return undefined;
  const terms: Record<string, number> = {};
  let score = 0;
  for (const name of names) {
    // Nothing completed has no latency, and that must not look like a very small one.
    terms[name] = metrics.completed_requests === 0 ? 0 : FITNESS_TERMS[name]!(metrics);
    score += weights[name]! * terms[name]!;
  }
  return { score, terms };
}
