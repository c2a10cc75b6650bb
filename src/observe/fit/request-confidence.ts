import { type Interval, intervalOf } from './fit-report.js';
import type { RequestFit } from './fit-requests.js';
import { normalMatrix } from './least-squares.js';
import { solve } from './nnls.js';
import type { FitParameter } from './profile-family.js';

const SPAN = 1.96;
/** Every request is in four groups, which therefore say less than as many of their own would. */
const GROUPINGS = 4;

/** How sure the parameters are, from how steeply the residuals follow them and how large they are. */
export function requestIntervals(parameters: readonly FitParameter[], fit: RequestFit): Interval[] {
  const { slopes, residuals } = fit.solution;
  const matrix = normalMatrix(slopes);
  const spare = Math.max(1, fit.observations / GROUPINGS - parameters.length);
  const seen = residuals.subarray(0, fit.observations).reduce((sum, value) => sum + value * value, 0);
  const scale = GROUPINGS * Math.max(1, seen / GROUPINGS / spare);
  return parameters.map(({ name }, i) => {
    const unit = new Float64Array(parameters.length);
    unit[i] = 1;
    const span = SPAN * Math.sqrt(scale * Math.max(0, solve(matrix, unit)[i]!));
    const value = fit.values[i]!;
    return intervalOf(name, value, value * Math.exp(-span), value * Math.exp(span));
  });
}
