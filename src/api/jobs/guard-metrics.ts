/** What is watched after a switch: a time to first token or of the whole request in milliseconds, or the share of failures. */
export const GUARD_METRICS = [
  'ttft_mean',
  'ttft_p50',
  'ttft_p90',
  'ttft_p99',
  'e2e_mean',
  'e2e_p90',
  'errors',
] as const;

export type GuardMetric = (typeof GUARD_METRICS)[number];
