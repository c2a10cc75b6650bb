import type { ResultDocument } from '../simulator/result-document.js';

/** A number that is measured for every run. */
export interface Metric {
  key: MetricKey;
  title: string;
  /** After the number; 'share' is shown in per cent. */
  unit: 'ms' | 'share' | 'tokens/s' | 'requests/s' | '';
  better: 'less' | 'more';
}

/** A measure of one SLO class. */
type ClassMetricKey = `ttft_p99_ms/${string}`;

export type MetricKey =
  | ClassMetricKey
  | 'ttft_mean_ms'
  | 'ttft_p50_ms'
  | 'ttft_p90_ms'
  | 'ttft_p99_ms'
  | 'itl_mean_ms'
  | 'e2e_mean_ms'
  | 'e2e_p99_ms'
  | 'tokens_per_sec'
  | 'responses_per_sec'
  | 'prompt_cache_hit_rate'
  | 'rejected_share'
  | 'completed_share'
  | 'goodput_rps'
  | 'slo_attainment'
  | 'busiest_share'
  | 'fitness';

export const METRICS: readonly Metric[] = [
  { key: 'ttft_mean_ms', title: 'TTFT mean', unit: 'ms', better: 'less' },
  { key: 'ttft_p50_ms', title: 'TTFT p50', unit: 'ms', better: 'less' },
  { key: 'ttft_p90_ms', title: 'TTFT p90', unit: 'ms', better: 'less' },
  { key: 'ttft_p99_ms', title: 'TTFT p99', unit: 'ms', better: 'less' },
  { key: 'itl_mean_ms', title: 'ITL mean', unit: 'ms', better: 'less' },
  { key: 'e2e_mean_ms', title: 'E2E mean', unit: 'ms', better: 'less' },
  { key: 'e2e_p99_ms', title: 'E2E p99', unit: 'ms', better: 'less' },
  { key: 'tokens_per_sec', title: 'throughput', unit: 'tokens/s', better: 'more' },
  { key: 'responses_per_sec', title: 'responses', unit: 'requests/s', better: 'more' },
  { key: 'prompt_cache_hit_rate', title: 'cached share of prompts', unit: 'share', better: 'more' },
  { key: 'rejected_share', title: 'rejected share', unit: 'share', better: 'less' },
  { key: 'completed_share', title: 'completed share', unit: 'share', better: 'more' },
  { key: 'goodput_rps', title: 'goodput', unit: 'requests/s', better: 'more' },
  { key: 'slo_attainment', title: 'share within targets', unit: 'share', better: 'more' },
  { key: 'busiest_share', title: "busiest instance's share", unit: 'share', better: 'less' },
  { key: 'fitness', title: 'fitness', unit: '', better: 'more' },
];

const CLASS_PREFIX = 'ttft_p99_ms/';

/** The tail of one SLO class: a good total may hide a bad class. */
export function classMetric(sloClass: string): Metric {
  return { key: `${CLASS_PREFIX}${sloClass}`, title: `TTFT p99 of ${sloClass}`, unit: 'ms', better: 'less' };
}

/** Every measure that some of the runs have, those of SLO classes last. */
export function metricsOf(runs: readonly MetricValues[]): Metric[] {
  const keys = new Set(runs.flatMap((metrics) => Object.keys(metrics)));
  const classes = [...keys].filter((key) => key.startsWith(CLASS_PREFIX)).map((key) => key.slice(CLASS_PREFIX.length));
  return [...METRICS, ...classes.sort().map(classMetric)];
}

/** Null for what a run did not measure: latencies when nothing completed, goodput without targets. */
export type MetricValues = Record<MetricKey, number | null>;

export function metricOf(key: MetricKey): Metric {
  return METRICS.find((metric) => metric.key === key) ?? classMetric(key.slice(CLASS_PREFIX.length));
}

export function metricValues(
  document: Pick<ResultDocument, 'cluster' | 'instances' | 'slo' | 'goodput' | 'fitness'>,
): MetricValues {
  const { cluster, instances, slo, goodput, fitness } = document;
  const latency = (ms: number) => (cluster.completed_requests === 0 ? null : ms);
  const { generated_requests: all } = cluster;
  const refused =
    cluster.rejected_requests +
    cluster.routing_rejected +
    cluster.gateway_rejected +
    cluster.gateway_shed +
    cluster.gateway_expired;
  const most = instances.reduce((highest, { injected_requests }) => Math.max(highest, injected_requests), 0);
  return {
    ttft_mean_ms: latency(cluster.ttft_mean_ms),
    ttft_p50_ms: latency(cluster.ttft_p50_ms),
    ttft_p90_ms: latency(cluster.ttft_p90_ms),
    ttft_p99_ms: latency(cluster.ttft_p99_ms),
    itl_mean_ms: latency(cluster.itl_mean_ms),
    e2e_mean_ms: latency(cluster.e2e_mean_ms),
    e2e_p99_ms: latency(cluster.e2e_p99_ms),
    tokens_per_sec: cluster.tokens_per_sec,
    responses_per_sec: cluster.responses_per_sec,
    prompt_cache_hit_rate: cluster.prompt_cache_hit_rate,
    rejected_share: all === 0 ? 0 : refused / all,
    completed_share: all === 0 ? 0 : cluster.completed_requests / all,
    goodput_rps: goodput?.goodput_rps ?? null,
    slo_attainment: goodput?.slo_attainment ?? null,
    fitness: fitness?.score ?? null,
    busiest_share: cluster.injected_requests === 0 ? null : most / cluster.injected_requests,
    ...classValues(slo),
  };
}

/** A single class adds nothing to the totals. */
function classValues(slo: ResultDocument['slo']): Record<ClassMetricKey, number> {
  const classes = Object.entries(slo);
  if (classes.length < 2) return {};
  return Object.fromEntries(classes.map(([name, { ttft }]) => [classMetric(name).key, ttft.p99_us / 1000]));
}

/** A latency and how the latencies of many requests become one number: their mean, or a percentile from 0 to 100. */
export interface LatencyMeasure {
  /** `itl`: gaps between tokens of all requests; `tpot`: the mean gap of each request. */
  of: 'ttft' | 'itl' | 'tpot' | 'e2e';
  at: 'mean' | number;
}
