import { CountedValues } from '../../kernel/counted-values.js';
import type { Replica } from '../../replica/replica.js';
import { STATUS } from '../../replica/request-outcomes.js';
import type { ServingMetrics } from '../result-document.js';
import { NO_SPREAD, spreadKeys, spreadOfGaps } from './latency-spread.js';
import type { RequestSample } from './request-sample.js';

/** The end of a finished replica's run, in numbers that can be added up. */
export interface ReplicaTotals {
  completed: number;
  lengthCapped: number;
  dropped: number;
  timedOut: number;
  stillQueued: number;
  stillRunning: number;
  inputTokens: number;
  outputTokens: number;
  preemptions: number;
  allocationFailures: number;
  promptTokens: number;
  cachedPromptTokens: number;
  endUs: number;
  cacheHitRate: number;
  gaps: CountedValues;
}

export function totalsOf(replica: Replica, horizonUs: number): ReplicaTotals {
  return {
    completed: replica.counters.completed,
    lengthCapped: replica.counters.lengthCapped,
    dropped: replica.counters.dropped,
    timedOut: replica.counters.timedOut,
    stillQueued: replica.queueDepth,
    stillRunning: replica.batchSize,
    inputTokens: replica.counters.inputTokens,
    outputTokens: replica.counters.outputTokens,
    preemptions: replica.preemptions,
    allocationFailures: replica.counters.allocationFailures,
    promptTokens: replica.promptTokens,
    cachedPromptTokens: replica.cachedPromptTokens,
    endUs: Math.min(replica.clockUs, horizonUs),
    cacheHitRate: replica.cacheHitRate,
    gaps: replica.gapCounts(),
  };
}

/** Totals of a whole cluster. Its hit rate is the plain average over replicas, its end the latest one. */
export function sumTotals(parts: readonly ReplicaTotals[]): ReplicaTotals {
  const add = (key: keyof Omit<ReplicaTotals, 'gaps'>) => parts.reduce((sum, part) => sum + part[key], 0);
  const gaps = new CountedValues();
  for (const part of parts) gaps.addAll(part.gaps);
  return {
    completed: add('completed'),
    lengthCapped: add('lengthCapped'),
    dropped: add('dropped'),
    timedOut: add('timedOut'),
    stillQueued: add('stillQueued'),
    stillRunning: add('stillRunning'),
    inputTokens: add('inputTokens'),
    outputTokens: add('outputTokens'),
    preemptions: add('preemptions'),
    allocationFailures: add('allocationFailures'),
    promptTokens: add('promptTokens'),
    cachedPromptTokens: add('cachedPromptTokens'),
    endUs: parts.reduce((latest, part) => Math.max(latest, part.endUs), 0),
    cacheHitRate: parts.length === 0 ? 0 : add('cacheHitRate') / parts.length,
    gaps,
  };
}

/** Latencies and rates are zero while nothing has completed. */
export function servingMetrics(totals: ReplicaTotals, sample: RequestSample, tokenOverheadUs: number): ServingMetrics {
  const any = totals.completed > 0;
  const seconds = totals.endUs / 1e6;
  return {
    injected_requests: totals.completed + totals.stillQueued + totals.stillRunning + totals.dropped + totals.timedOut,
    completed_requests: totals.completed,
    still_queued: totals.stillQueued,
    still_running: totals.stillRunning,
    dropped_unservable: totals.dropped,
    timed_out_requests: totals.timedOut,
    length_capped_requests: totals.lengthCapped,
    total_input_tokens: totals.inputTokens,
    total_output_tokens: totals.outputTokens,
    duration_s: seconds,
    responses_per_sec: any && seconds > 0 ? totals.completed / seconds : 0,
    tokens_per_sec: any && seconds > 0 ? totals.outputTokens / seconds : 0,
    ...spreadKeys('e2e', any ? sample.e2e : NO_SPREAD),
    ...spreadKeys('ttft', any ? sample.ttft : NO_SPREAD),
    ...spreadKeys('itl', any ? spreadOfGaps(totals.gaps, tokenOverheadUs) : NO_SPREAD),
    scheduling_delay_p99_ms: any ? sample.schedulingDelayP99Ms : 0,
    preemption_count: totals.preemptions,
    cache_hit_rate: totals.cacheHitRate,
    prompt_cache_hit_rate: totals.promptTokens === 0 ? 0 : totals.cachedPromptTokens / totals.promptTokens,
    kv_allocation_failures: totals.allocationFailures,
  };
}

/** How many requests ended, or stand, in each status. */
export function countStatuses(status: Uint8Array, rows: number): (name: keyof typeof STATUS) => number {
  const counts = new Int32Array(256);
  for (let row = 0; row < rows; row++) counts[status[row]!]!++;
  return (name) => counts[STATUS[name]]!;
}
