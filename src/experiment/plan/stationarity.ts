import { studentT975 } from '../comparison/paired-difference.js';
import { STEADY_PARTS, type SteadyState } from '../runs/steady-state.js';

/** Whether a load is served for ever, or only for as long as the run was. */
export interface Stationarity {
  /** Requests in the cluster: how many times their mean they grew by during the measured time. */
  growth: number;
  isGrowing: boolean;
  /** How many times as long a run has to be to say so; 1 or less: it is long enough. */
  lengthFactor: number;
}

/** Growth below this is no backlog: a whole run of it changes no latency much. */
const LEAST_GROWTH = 0.1;
const LEAST_REQUESTS = 2;
/** A run measures this many times as long as a request takes: an overload of a hundredth then adds an eighth to its requests. */
const TIMES_E2E = 12;
/** Warm-up, the last arrivals, and that a loaded replica takes longer than an idle one. */
const MARGIN = 1.2;
const LOADED = 1.5;

/** Requests that a run needs at a rate, by how long one takes on an idle replica. */
export function enoughRequests(rate: number, idleS: number): number {
  return Math.ceil(MARGIN * TIMES_E2E * LOADED * idleS * rate);
}

/**
 * Judges runs of one point with different seeds together: what seeds share is the trend.
 * @param isRecorded traffic with its own ups and downs, whose requests in flight rise and fall with it: then only the verdict
 * on the whole run counts
 */
export function stationarity(runs: readonly SteadyState[], isRecorded: boolean): Stationarity {
  const parts = Array.from({ length: STEADY_PARTS }, (_, part) => meanOf(runs.map(({ inFlight }) => inFlight[part]!)));
  const { slope, error } = trend(parts);
  const level = meanOf(parts);
  const grown = slope * (STEADY_PARTS - 1);
  const growth = level === 0 ? 0 : grown / level;
  const isClear = slope > studentT975(STEADY_PARTS - 2) * error;
  const isSaturated = runs.every((run) => run.isSaturated);
  const measured = meanOf(runs.map(({ measuredS }) => measuredS));
  const needed = TIMES_E2E * meanOf(runs.map(({ e2eP50S }) => e2eP50S));
  return {
    growth,
    isGrowing: isSaturated || (!isRecorded && growth > LEAST_GROWTH && grown > LEAST_REQUESTS && isClear),
    lengthFactor: needed <= measured ? 1 : (MARGIN * needed) / measured,
  };
}

/** The straight line through values at 0, 1, 2..., and the standard error of its slope. */
function trend(values: readonly number[]): { slope: number; error: number } {
  const n = values.length;
  const middle = (n - 1) / 2;
  const level = meanOf(values);
  let products = 0;
  let squares = 0;
  for (const [i, value] of values.entries()) {
    products += (i - middle) * (value - level);
    squares += (i - middle) ** 2;
  }
  const slope = products / squares;
  const rest = values.reduce((sum, value, i) => sum + (value - level - slope * (i - middle)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (n - 2) / squares) };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
