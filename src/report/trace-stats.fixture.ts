import type { TraceSeries, TraceStats } from '../workload/tools/stats/trace-stats-document.js';

/** Statistics of a trace in which everything occurs. */
export const STATS: TraceStats = {
  format: 'trace-v2',
  requests: 1200,
  duration_s: 600,
  rate: { mean_per_s: 1.9983, peak_per_second: 9, peak_per_minute: 150, gap_cv: 1.25 },
  input_tokens: { total: 1_200_000, mean: 1000, p50: 800, p90: 2000, p99: 4000.5, max: 9000 },
  output_tokens: { total: 120_000, mean: 100, p50: 80, p90: 200, p99: 400, max: 900 },
  chats: { count: 3, requests: 9, turns: { mean: 3, p50: 2, p90: 5.2, p99: 5.92, max: 6 } },
  recorded_blocks: { tokens: 512, count: 2400, distinct: 1800, seen_before_share: 0.25 },
  prefix_reuse: {
    known_by: ['recorded_blocks'],
    block_size: 512,
    infinite_cache: { reused_tokens: 300_000, share: 0.25 },
    lru_cache: { blocks: 64, reused_tokens: 120_000, share: 0.1 },
    hot_prefixes: [{ tokens: 512, uses: 500, reused_tokens: 255_488, first_request: 'request_3' }],
  },
  slo_classes: { critical: 900, batch: 300 },
  tenants: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`t${i}`, 100])),
};

export const SERIES: TraceSeries = {
  arrivalUs: Float64Array.from({ length: 1200 }, (_, i) => i * 500_000),
  inputTokens: new Float64Array(1200).fill(1000),
  reusedTokens: new Float64Array(1200).fill(250),
  cachedTokens: new Float64Array(1200).fill(100),
  sortedInput: Float64Array.from({ length: 1200 }, (_, i) => i),
  sortedOutput: Float64Array.from({ length: 1200 }, (_, i) => i / 2),
  sortedTurns: Float64Array.of(1, 2, 6),
};
