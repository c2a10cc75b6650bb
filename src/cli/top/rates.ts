import type { Samples } from '../../protocol/prometheus/read-samples.js';
import type { Reading } from './read-gateway.js';

/** Traffic of an endpoint, or of all, between two readings. */
export interface Rates {
  /** Per second. */
  readonly requests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Share of the prompt tokens that engines had cached; NaN without prompts. */
  readonly cached: number;
  /** Seconds to the first token; NaN without streams. */
  readonly firstTokenP50: number;
  readonly firstTokenP99: number;
}

const REPLICA_REQUESTS = 'twinyard_replica_requests_total';
/** Outcomes that are no fault of the client. */
const ERRORS = ['upstream_error', 'timeout', 'no_replica', 'fault'];

/**
 * Rates between two readings; without a first one, since the gateway started. A gateway that restarted in between counts from
 * its new start.
 * @param endpoint its label in metrics; null for all together
 */
export function ratesBetween(before: Reading | null, after: Reading, endpoint: string | null): Rates {
  const { first, seconds } = spanOf(before, after);
  const grown = (name: string, outcomes: readonly string[] | null = null) =>
    total(after.metrics, name, endpoint, outcomes) - (first === null ? 0 : total(first, name, endpoint, outcomes));
  const perSecond = (count: number) => (seconds > 0 ? count / seconds : Number.NaN);
  const input = grown('twinyard_input_tokens_total');
  const buckets = bucketsOf(after.metrics, endpoint);
  if (first !== null) for (const [bound, count] of bucketsOf(first, endpoint)) add(buckets, bound, -count);
  return {
    requests: perSecond(grown('twinyard_requests_total')),
    errors: perSecond(grown('twinyard_requests_total', ERRORS)),
    inputTokens: perSecond(input),
    outputTokens: perSecond(grown('twinyard_output_tokens_total')),
    cached: input > 0 ? grown('twinyard_cached_tokens_total') / input : Number.NaN,
    firstTokenP50: quantile(buckets, 0.5),
    firstTokenP99: quantile(buckets, 0.99),
  };
}

/** Requests per second sent to each replica between two readings, by its id; see `ratesBetween`. */
export function replicaRates(before: Reading | null, after: Reading): ReadonlyMap<string, number> {
  const { first, seconds } = spanOf(before, after);
  const sent = (metrics: Samples) =>
    new Map(metrics.rows(REPLICA_REQUESTS).map(({ labels, value }) => [labels.get('replica') ?? '', value]));
  const earlier = first === null ? new Map<string, number>() : sent(first);
  const rates = [...sent(after.metrics)].map(([id, count]): [string, number] => {
    // A replica that left and joined again counts from its return.
    const since = earlier.get(id) ?? 0;
    return [id, (count >= since ? count - since : count) / seconds];
  });
  return new Map(seconds > 0 ? rates : []);
}

/** The metrics to subtract, none after a restart, and the time since. */
function spanOf(before: Reading | null, after: Reading): { first: Samples | null; seconds: number } {
  const started = after.metrics.sum('process_start_time_seconds');
  const isSame = before !== null && before.metrics.sum('process_start_time_seconds') === started;
  return {
    first: isSame ? before.metrics : null,
    seconds: (after.atMs - (isSame ? before.atMs : started * 1000)) / 1000,
  };
}

function total(metrics: Samples, name: string, endpoint: string | null, outcomes: readonly string[] | null): number {
  let sum = 0;
  for (const { labels, value } of metrics.rows(name)) {
    if (endpoint !== null && labels.get('endpoint') !== endpoint) continue;
    if (outcomes === null || outcomes.includes(labels.get('outcome') ?? '')) sum += value;
  }
  return sum;
}

/** Cumulative counts by upper bound. */
function bucketsOf(metrics: Samples, endpoint: string | null): Map<number, number> {
  const buckets = new Map<number, number>();
  for (const { labels, value } of metrics.rows('twinyard_time_to_first_token_seconds_bucket')) {
    if (endpoint !== null && labels.get('endpoint') !== endpoint) continue;
    const bound = labels.get('le') === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.get('le'));
    add(buckets, bound, value);
  }
  return buckets;
}

function add(buckets: Map<number, number>, bound: number, count: number): void {
  buckets.set(bound, (buckets.get(bound) ?? 0) + count);
}

/**
 * As Prometheus' histogram_quantile: linear inside a bucket, and the largest finite bound for what is beyond it. NaN when the
 * buckets are empty.
 */
export function quantile(cumulative: ReadonlyMap<number, number>, share: number): number {
  const rows = [...cumulative].sort(([a], [b]) => a - b);
  const count = rows.at(-1)?.[1] ?? 0;
  if (count <= 0) return Number.NaN;
  const rank = share * count;
  const at = rows.findIndex(([, upTo]) => upTo >= rank);
  const [from, below] = rows[at - 1] ?? [0, 0];
  const [to, upTo] = rows[at]!;
  return Number.isFinite(to) ? from + ((to - from) * (rank - below)) / (upTo - below) : from;
}
