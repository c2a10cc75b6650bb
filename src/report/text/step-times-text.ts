import type { LatencyNote } from '../../simulator/result-document.js';

/** Which latency model a result used, and how far to believe it. */
export function stepTimesText({ model, profile, coefficients, expected_error }: LatencyNote): string {
  if (profile !== undefined) return `measured, profile ${profile}`;
  return coefficients === undefined ? model : `${model}, ${coefficients} coefficients: ${expected_error}`;
}
