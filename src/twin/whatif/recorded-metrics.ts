import { mean, percentile } from '../../kernel/percentile.js';

/** What is predicted, in the order of tables. Latencies are in milliseconds; `cached_share` is of prompt tokens. */
export const WHAT_IF_METRICS = [
  'ttft_mean_ms',
  'ttft_p50_ms',
  'ttft_p90_ms',
  'ttft_p99_ms',
  'itl_mean_ms',
  'e2e_mean_ms',
  'e2e_p99_ms',
  'cached_share',
] as const;

export type WhatIfMetric = (typeof WHAT_IF_METRICS)[number];

export const WHAT_IF_TITLES: Readonly<Record<WhatIfMetric, string>> = {
  ttft_mean_ms: 'TTFT mean, ms',
  ttft_p50_ms: 'TTFT p50, ms',
  ttft_p90_ms: 'TTFT p90, ms',
  ttft_p99_ms: 'TTFT p99, ms',
  itl_mean_ms: 'ITL mean, ms',
  e2e_mean_ms: 'E2E mean, ms',
  e2e_p99_ms: 'E2E p99, ms',
  cached_share: 'cached, %',
};

export type MetricRow = Record<WhatIfMetric, number>;

/** Latencies of complete responses, request by request, in microseconds from the arrival. */
export interface ResponseTimes {
  ttftUs: number[];
  e2eUs: number[];
  outputTokens: number[];
  /** What gaps between tokens begin at, where `ttftUs` is calibrated: it is not what the rest of the response follows. */
  itlTtftUs?: number[];
}

/** Requests that change sides of a percentile from one run to the next: this share of those beyond it, or as chance has it for few. */
const RANK_SPREAD = 0.1;
const RANK_CHANCE = 1.4;

/**
 * @param cachedShare NaN where it is not known
 * @param sign for percentiles: 0 as named, -1 and 1 as low and as high as other requests beyond them make them
 */
export function metricsOfResponses(
  { e2eUs, itlTtftUs, outputTokens, ttftUs }: ResponseTimes,
  cachedShare: number,
  sign: -1 | 0 | 1 = 0,
): MetricRow {
  const ttft = Float64Array.from(ttftUs).sort();
  const e2e = Float64Array.from(e2eUs).sort();
  const firstUs = itlTtftUs ?? ttftUs;
  const gaps: number[] = [];
  for (let i = 0; i < ttftUs.length; i++) {
    if (outputTokens[i]! > 1) gaps.push((e2eUs[i]! - firstUs[i]!) / (outputTokens[i]! - 1));
  }
  const ms = (us: number) => us / 1000;
  const ranksOff = (p: number) =>
    Math.max(RANK_SPREAD * (100 - p), RANK_CHANCE * Math.sqrt((p * (100 - p)) / Math.max(1, ttft.length)));
  const at = (sorted: Float64Array, p: number) =>
    ms(percentile(sorted, Math.min(100, Math.max(0, p + sign * ranksOff(p)))));
  return {
    ttft_mean_ms: ms(mean(ttft)),
    ttft_p50_ms: at(ttft, 50),
    ttft_p90_ms: at(ttft, 90),
    ttft_p99_ms: at(ttft, 99),
    itl_mean_ms: ms(mean(gaps)),
    e2e_mean_ms: ms(mean(e2e)),
    e2e_p99_ms: at(e2e, 99),
    cached_share: cachedShare,
  };
}
