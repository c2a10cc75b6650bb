import { mean, percentile } from '../../kernel/percentile.js';
import type { RequestOutcomes } from '../../replica/request-outcomes.js';
import type { RequestTable } from '../../workload/request-table.js';
import type { Quantiles, SessionMetrics } from '../result-document.js';

function quantilesMs(valuesUs: number[]): Quantiles {
  const sorted = Float64Array.from(valuesUs, (us) => us / 1000).sort();
  return { mean: mean(sorted), p50: percentile(sorted, 50), p95: percentile(sorted, 95), p99: percentile(sorted, 99) };
}

/** First turns against later turns, and the duration of sessions; undefined when no request belongs to a session. */
export function sessionMetrics(table: RequestTable, outcomes: RequestOutcomes): SessionMetrics | undefined {
  if (table.sessions.size === 1) return undefined;
  const cold: number[] = [];
  const warm: number[] = [];
  const startUs = new Float64Array(table.sessions.size).fill(Number.NaN);
  const endUs = new Float64Array(table.sessions.size).fill(Number.NEGATIVE_INFINITY);
  const seen = new Uint8Array(table.sessions.size);
  for (let row = 0; row < table.count; row++) {
    const session = table.session[row]!;
    if (session === 0) continue;
    seen[session] = 1;
    const first = table.round[row] === 0;
    if (first) startUs[session] = table.arrivalUs[row]!;
    const ttft = outcomes.ttftUs[row]!;
    if (!Number.isNaN(ttft)) (first ? cold : warm).push(ttft);
    const e2e = outcomes.e2eUs[row]!;
    if (!Number.isNaN(e2e)) endUs[session] = Math.max(endUs[session]!, table.arrivalUs[row]! + e2e);
  }
  const count = seen.reduce((a, b) => a + b, 0);
  if (count === 0) return undefined;
  const durations: number[] = [];
  for (let session = 1; session < seen.length; session++) {
    const duration = endUs[session]! - startUs[session]!;
    if (duration > 0 && duration < Number.POSITIVE_INFINITY) durations.push(duration);
  }
  return {
    count,
    ttft_cold_ms: quantilesMs(cold),
    ttft_warm_ms: quantilesMs(warm),
    duration_ms: quantilesMs(durations),
  };
}
