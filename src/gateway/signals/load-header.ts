import type { ReplicaSignals } from './replica-signals.js';

/** Asks a replica to tell its load beside its response, and what the response is called. */
export const LOAD_REQUEST = ['endpoint-load-metrics-format', 'TEXT'] as const;
export const LOAD_HEADER = 'endpoint-load-metrics';

/** What a replica says of its load beside a response; NaN for what it does not say. */
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

/** Reads `TEXT named_metrics.kv_cache_usage_perc=0.25, named_metrics.num_requests_waiting=3`; null when it says nothing. */
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

/** What a replica said beside a response, and of the rest what its metrics said, unless that was before `sinceUs`. */
export function withLoad(
  scraped: ReplicaSignals | null,
  { kvUsed, running, waiting }: LoadReport,
  atUs: number,
  sinceUs: number,
): ReplicaSignals {
  const rest = scraped !== null && scraped.atUs >= sinceUs ? scraped : NOTHING_SAID;
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

const NOTHING_SAID: ReplicaSignals = {
  atUs: 0,
  running: Number.NaN,
  waiting: Number.NaN,
  kvUsed: Number.NaN,
  freeBlocks: Number.NaN,
  cacheHitRate: Number.NaN,
  missing: [],
};
