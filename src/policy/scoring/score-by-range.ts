import type { FleetView } from '../fleet-view.js';

/**
 * Maps whole numbers >= 0 linearly to [0, 1] over the eligible replicas: the best end of their range gets 1, the other end 0. When
 * all are equal, all get 1.
 */
export function scoreByRange(
  view: FleetView,
  values: Int32Array,
  best: 'least' | 'greatest',
  scores: Float64Array,
): void {
  let max = 0;
  let min = Number.POSITIVE_INFINITY;
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] === 0) continue;
    max = Math.max(max, values[i]!);
    min = Math.min(min, values[i]!);
  }
  const worst = best === 'least' ? max : min;
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] !== 0) scores[i] = max === min ? 1 : Math.abs(worst - values[i]!) / (max - min);
  }
}
