import { percentile } from '../../kernel/percentile.js';
import { type RequestOutcomes, STATUS } from '../../replica/request-outcomes.js';
import type { ClusterMetrics, ResultDocument, Saturation } from '../../simulator/result-document.js';
import type { RequestTable } from '../../workload/request-table.js';
import type { LatencyMeasure } from '../metrics.js';

/**
 * A run as seen after its warm-up and before its last arrivals: what a fleet does that serves this load all day.
 * Plain data of the same size for any number of requests.
 */
export interface SteadyState {
  /** Requests that arrived in the measured time, without those that no replica can hold. */
  requests: number;
  /** Of all requests: those too long for the context or the KV cache of any replica, and those that stopped at it. */
  unservable: number;
  lengthCapped: number;
  /** Of the measured ones: rejected, timed out, expired or left behind. */
  lost: number;
  warmUpS: number;
  measuredS: number;
  /** Requests per second that arrived, and that a replica finished, in the measured time. */
  arrivedPerS: number;
  finishedPerS: number;
  /** Median time of a whole request. */
  e2eP50S: number;
  /** In ms, by measure; null where requests that are never served reach into it. */
  values: (number | null)[];
  /** The same for each of `PARTS` equal parts of the measured time. */
  parts: (number | null)[][];
  /** Requests in the cluster on the mean, in each part. */
  inFlight: number[];
  /** The verdict on the whole run: more arrived than was served, until the end. */
  isSaturated: boolean;
  /** What detectors said, where some were chosen. */
  detectors?: Saturation['detectors'];
  /** Tokens of a mean and of a 99th percentile prompt. */
  promptTokens: { mean: number; p99: number };
}

export const STEADY_PARTS = 8;
/** The start is left out: at least this share of the time, and until requests of the start have left. */
const WARM_UP_SHARE = 0.1;
const WARM_UP_REQUESTS = 2;
/** Never more than this share, so that a run without a steady state has one that can be looked at. */
const MOST_LEFT_OUT = 0.4;

export function steadyState(
  table: RequestTable,
  outcomes: RequestOutcomes,
  { cluster, saturation }: Pick<ResultDocument, 'cluster' | 'saturation'>,
  measures: readonly LatencyMeasure[],
): SteadyState {
  const { count, arrivalUs, inputTokens } = table;
  let firstUs = Number.POSITIVE_INFINITY;
  let lastUs = 0;
  for (let row = 0; row < count; row++) {
    firstUs = Math.min(firstUs, arrivalUs[row]!);
    lastUs = Math.max(lastUs, arrivalUs[row]!);
  }
  const spanUs = Math.max(1, lastUs - firstUs);
  const e2eUs = percentile(servedValues(outcomes.e2eUs, count), 50);
  const warmUpUs = Math.min(MOST_LEFT_OUT * spanUs, Math.max(WARM_UP_SHARE * spanUs, WARM_UP_REQUESTS * e2eUs));
  // Requests of the end finish in a fleet that empties.
  const coolDownUs = Math.min(MOST_LEFT_OUT / 2, e2eUs / spanUs) * spanUs;
  const fromUs = firstUs + warmUpUs;
  const toUs = Math.max(fromUs + 1, lastUs - coolDownUs);
  const rows: number[] = [];
  let unservable = 0;
  let lengthCapped = 0;
  let finished = 0;
  for (let row = 0; row < count; row++) {
    const status = outcomes.status[row]!;
    if (status === STATUS.length_capped) lengthCapped++;
    const doneUs = arrivalUs[row]! + outcomes.e2eUs[row]!;
    if (doneUs >= fromUs && doneUs < toUs) finished++;
    if (status === STATUS.dropped) unservable++;
    else if (arrivalUs[row]! >= fromUs && arrivalUs[row]! < toUs) rows.push(row);
  }
  const measuredS = (toUs - fromUs) / 1e6;
  const byPart: number[][] = Array.from({ length: STEADY_PARTS }, () => []);
  const partUs = (toUs - fromUs) / STEADY_PARTS;
  for (const row of rows) {
    byPart[Math.min(STEADY_PARTS - 1, Math.floor((arrivalUs[row]! - fromUs) / partUs))]!.push(row);
  }
  const prompts = Int32Array.from(rows, (row) => inputTokens[row]!).sort();
  return {
    requests: rows.length,
    unservable,
    lengthCapped,
    lost: rows.filter((row) => Number.isNaN(outcomes.e2eUs[row]!)).length,
    warmUpS: warmUpUs / 1e6,
    measuredS,
    arrivedPerS: rows.length / measuredS,
    finishedPerS: finished / measuredS,
    e2eP50S: e2eUs / 1e6,
    values: measures.map((measure) => pooled(measure, cluster) ?? measuredMs(measure, rows, outcomes)),
    parts: measures.map((measure) => byPart.map((part) => measuredMs(measure, part, outcomes))),
    isSaturated: saturation.state === 'saturated',
    ...(saturation.detectors === undefined ? {} : { detectors: saturation.detectors }),
    inFlight: inFlightByPart(table, outcomes, fromUs, partUs),
    promptTokens: {
      mean: prompts.reduce((sum, n) => sum + n, 0) / Math.max(1, rows.length),
      p99: percentile(prompts, 99),
    },
  };
}

function servedValues(us: Float64Array, count: number): Float64Array {
  return us
    .subarray(0, count)
    .filter((value) => !Number.isNaN(value))
    .sort();
}

/** Percentiles of gaps between tokens are known for the whole run only: single gaps are not kept. */
function pooled({ of, at }: LatencyMeasure, cluster: ClusterMetrics): number | null {
  if (of !== 'itl' || at === 'mean') return null;
  return cluster[`itl_p${at}_ms` as keyof ClusterMetrics] as number;
}

function measuredMs({ of, at }: LatencyMeasure, rows: readonly number[], outcomes: RequestOutcomes): number | null {
  if (rows.length === 0) return null;
  if (of === 'itl' && at === 'mean') return meanGapMs(rows, outcomes);
  const values: number[] = [];
  for (const row of rows) {
    const ms = latencyMs(of, row, outcomes);
    // A response of one token has no gap.
    if (ms !== null) values.push(ms);
  }
  if (values.length === 0) return 0;
  const found = at === 'mean' ? values.reduce((sum, ms) => sum + ms, 0) / values.length : highPercentile(values, at);
  return Number.isFinite(found) ? Math.round(found * 1000) / 1000 : null;
}

/** Infinite for a request that was not served. */
function latencyMs(of: LatencyMeasure['of'], row: number, outcomes: RequestOutcomes): number | null {
  if (Number.isNaN(outcomes.e2eUs[row]!)) return Number.POSITIVE_INFINITY;
  if (of === 'ttft') return outcomes.ttftUs[row]! / 1000;
  if (of === 'e2e') return outcomes.e2eUs[row]! / 1000;
  const gaps = outcomes.producedTokens[row]! - 1;
  return gaps < 1 ? null : outcomes.itlSumUs[row]! / gaps / 1000;
}

function highPercentile(values: readonly number[], p: number): number {
  const sorted = Float64Array.from(values).sort();
  const found = percentile(sorted, p);
  return Number.isNaN(found) ? Number.POSITIVE_INFINITY : found;
}

function meanGapMs(rows: readonly number[], outcomes: RequestOutcomes): number | null {
  let sumUs = 0;
  let gaps = 0;
  for (const row of rows) {
    if (Number.isNaN(outcomes.e2eUs[row]!)) continue;
    sumUs += outcomes.itlSumUs[row]!;
    gaps += Math.max(0, outcomes.producedTokens[row]! - 1);
  }
  return gaps === 0 ? 0 : Math.round(sumUs / gaps) / 1000;
}

function inFlightByPart(table: RequestTable, outcomes: RequestOutcomes, fromUs: number, partUs: number): number[] {
  const busyUs = new Float64Array(STEADY_PARTS);
  const endUs = fromUs + STEADY_PARTS * partUs;
  for (let row = 0; row < table.count; row++) {
    if (outcomes.instance[row]! < 0) continue;
    const arrival = table.arrivalUs[row]!;
    const e2eUs = outcomes.e2eUs[row]!;
    const left = Number.isNaN(e2eUs) ? leftWithoutResponse(table, outcomes, row, endUs) : arrival + e2eUs;
    for (let part = 0; part < STEADY_PARTS; part++) {
      const from = Math.max(arrival, fromUs + part * partUs);
      const to = Math.min(left, fromUs + (part + 1) * partUs);
      if (to > from) busyUs[part]! += to - from;
    }
  }
  return [...busyUs].map((us) => Math.round((1000 * us) / partUs) / 1000);
}

function leftWithoutResponse(table: RequestTable, outcomes: RequestOutcomes, row: number, endUs: number): number {
  if (outcomes.status[row] === STATUS.timed_out) return table.deadlineUs[row]!;
  return outcomes.status[row] === STATUS.dropped ? table.arrivalUs[row]! : endUs;
}
