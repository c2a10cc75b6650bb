import type { ReplicaSignals } from './replica-signals.js';

/** The request header that makes a replica report its load, and the response header with the load. */
export const LOAD_REQUEST = ['endpoint-load-metrics-format', 'TEXT'] as const;
export const LOAD_HEADER = 'endpoint-load-metrics';

/** The load in a response header; NaN for a value that is not reported. */
export interface LoadReport {
  running: number;
  waiting: number;
  kvUsed: number;
}

/** Names of metrics in the header. */
const SIGNALS: Readonly<Record<string, keyof LoadReport>> = {
  num_requests_running: 'running',
  num_requests_waiting: 'waiting',
  kv_cache_usage_perc: 'kvUsed',
};
const PREFIX = 'named_metrics.';

/**
 * Reads `TEXT named_metrics.kv_cache_usage_perc=0.25, named_metrics.num_requests_waiting=3`; null when it has no known
 * metric.
 */
export function readLoadHeader(text: string): LoadReport | null {
  if (!/^TEXT\s/i.test(text)) return null;
  const report: LoadReport = { running: Number.NaN, waiting: Number.NaN, kvUsed: Number.NaN };
  let isEmpty = true;
  for (const pair of text.slice(5).split(',')) {
    const [name, value] = pair.split('=', 2);
    const signal = name!.trim().startsWith(PREFIX) ? SIGNALS[name!.trim().slice(PREFIX.length)] : undefined;
    const number = Number(value?.trim() || Number.NaN);
    if (signal === undefined || !(number >= 0 && number < Number.POSITIVE_INFINITY)) continue;
    report[signal] = number;
    isEmpty = false;
  }
  return isEmpty ? null : report;
}

/** The load of a response header, completed from the metrics unless those are older than `sinceUs`. */
export function withLoad(
  scraped: ReplicaSignals | null,
  { kvUsed, running, waiting }: LoadReport,
  atUs: number,
  sinceUs: number,
): ReplicaSignals {
  const rest = scraped !== null && scraped.atUs >= sinceUs ? scraped : NO_SIGNALS;
  return {
    atUs,
    running: Number.isNaN(running) ? rest.running : running,
    waiting: Number.isNaN(waiting) ? rest.waiting : waiting,
    kvUsed: Number.isNaN(kvUsed) ? rest.kvUsed : kvUsed,
    freeBlocks: rest.freeBlocks,
    cacheHitRate: rest.cacheHitRate,
    missing: rest.missing,
  };
}

const NO_SIGNALS: ReplicaSignals = {
  atUs: 0,
  running: Number.NaN,
  waiting: Number.NaN,
  kvUsed: Number.NaN,
  freeBlocks: Number.NaN,
  cacheHitRate: Number.NaN,
  missing: [],
};
