import type { RequestOutcomes } from '../../../replica/request-outcomes.js';
import type { RequestTable } from '../../../workload/request-table.js';
import { quantilesMs } from './latency-quantiles.js';
import { LOAD_STEPS, type LoadOverTime, lastMoment, leftAt, loadOverTime, stepOf } from './load-over-time.js';
import { SpanSums } from './span-sums.js';

/** More rows than this are not seen apart in a heat map. */
export const MAX_HEAT_ROWS = 64;

/** The course of a run over time, and the gaps between tokens: for a page that draws it. The same size for any run. */
export interface RunCourse {
  /** Length of a stretch of time. */
  stepUs: number;
  /** Requests in the cluster, as the mean of each stretch. */
  inSystem: number[];
  /** Output tokens per second: those of a request come evenly between its first and its last. */
  tokensPerS: number[];
  /** Requests at each replica; the least, the mean and the most of a large fleet. */
  replicas: LoadOverTime;
  /** Mean gap between tokens of each request, at `QUANTILES`; empty where no request has two tokens. */
  itlMs: number[];
}

export function runCourse(table: RequestTable, outcomes: RequestOutcomes, instances: number): RunCourse {
  const replicas = loadOverTime(table, outcomes, instances, MAX_HEAT_ROWS);
  const endUs = lastMoment(table, outcomes);
  const stepUs = stepOf(endUs);
  const sums = new SpanSums(2, LOAD_STEPS, stepUs);
  const gapsUs = new Float64Array(table.count).fill(Number.NaN);
  for (let row = 0; row < table.count; row++) {
    if (outcomes.instance[row]! < 0) continue;
    const arrivalUs = table.arrivalUs[row]!;
    sums.add(IN_SYSTEM, arrivalUs, Math.max(arrivalUs, Math.min(endUs, leftAt(table, outcomes, row, endUs))));
    const e2eUs = outcomes.e2eUs[row]!;
    if (Number.isNaN(e2eUs)) continue;
    const tokens = outcomes.producedTokens[row]!;
    const firstUs = arrivalUs + outcomes.ttftUs[row]!;
    const spanUs = Math.max(1, arrivalUs + e2eUs - firstUs);
    sums.add(TOKENS, firstUs, firstUs + spanUs, (tokens / spanUs) * 1e6);
    if (tokens > 1) gapsUs[row] = outcomes.itlSumUs[row]! / (tokens - 1);
  }
  return {
    ...{ stepUs, inSystem: sums.means(IN_SYSTEM), tokensPerS: sums.means(TOKENS), replicas },
    itlMs: quantilesMs(gapsUs),
  };
}

const IN_SYSTEM = 0;
const TOKENS = 1;
