import { solve } from './nnls.js';

export interface LeastSquares {
  at: Float64Array;
  loss: number;
  /** By residual and parameter: slopes at the best point. */
  slopes: Float64Array[];
  residuals: Float64Array;
  rounds: number;
}

const MOST_ROUNDS = 25;
/** Which parameters a neighbour has more and which less of, in turns; in pairs, so that what is linear cancels out. */
const NEIGHBOURS = [
  [1, 1],
  [-1, -1],
  [1, -1],
  [-1, 1],
];
const NEAR = 0.002;

/**
 * The parameters with the least sum of squared residuals near the start: the Levenberg-Marquardt method with slopes
 * from differences. In a simulation a tiny change can move a request to another step, and all after it: residuals are
 * the mean of four neighbours, and `widths`, the distances for slopes by parameter, must be wide enough to smooth that.
 * `residuals` is called about 2 n + 4 times per round.
 */
export function leastSquares(
  start: Float64Array,
  widths: readonly number[],
  residuals: (at: Float64Array) => Float64Array,
  progress: (round: number, loss: number) => void,
): LeastSquares {
  let at = start;
  let here = around(at, residuals);
  let loss = squares(here);
  let damping = 0.01;
  let slopes = slopesAt(at, widths, residuals);
  let rounds = 0;
  for (; rounds < MOST_ROUNDS; rounds++) {
    progress(rounds, loss);
    const next = stepFrom(at, here, slopes, damping);
    const there = around(next, residuals);
    const lower = squares(there);
    if (!(lower < loss)) {
      if (damping > 1e4) break;
      damping *= 8;
      continue;
    }
    const gain = 1 - lower / loss;
    at = next;
    here = there;
    loss = lower;
    damping = Math.max(1e-4, damping / 4);
    slopes = slopesAt(at, widths, residuals);
    if (gain < 1e-4) break;
  }
  return { at, loss, slopes, residuals: here, rounds };
}

function around(at: Float64Array, residuals: (at: Float64Array) => Float64Array): Float64Array {
  const all = NEIGHBOURS.map((signs) => residuals(at.map((value, i) => value + NEAR * signs[i % 2]!)));
  return all[0]!.map((_, k) => all.reduce((sum, one) => sum + one[k]!, 0) / all.length);
}

function slopesAt(
  at: Float64Array,
  widths: readonly number[],
  residuals: (at: Float64Array) => Float64Array,
): Float64Array[] {
  return widths.map((width, i) => {
    const up = Float64Array.from(at);
    const down = Float64Array.from(at);
    up[i]! += width;
    down[i]! -= width;
    const above = residuals(up);
    const below = residuals(down);
    return above.map((value, k) => (value - below[k]!) / (2 * width));
  });
}

function stepFrom(
  at: Float64Array,
  here: Float64Array,
  slopes: readonly Float64Array[],
  damping: number,
): Float64Array {
  const n = at.length;
  const matrix = normalMatrix(slopes);
  const right = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    matrix[i * n + i]! += damping * (matrix[i * n + i]! + 1e-3);
    for (let k = 0; k < here.length; k++) right[i]! -= slopes[i]![k]! * here[k]!;
  }
  const step = solve(matrix, right);
  // A step of more than a factor of two is a leap in the dark.
  const longest = step.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = longest > Math.LN2 ? Math.LN2 / longest : 1;
  return at.map((value, i) => value + scale * step[i]!);
}

/** Sums of products of slopes. */
export function normalMatrix(slopes: readonly Float64Array[]): Float64Array {
  const n = slopes.length;
  const matrix = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      for (let k = 0; k < slopes[i]!.length; k++) matrix[i * n + j]! += slopes[i]![k]! * slopes[j]![k]!;
    }
  }
  return matrix;
}

function squares(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}
