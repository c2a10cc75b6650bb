import type { Explanation } from '../explanation.js';
import { effectiveLoad, type FleetView } from '../fleet-view.js';

/** Gives the candidates of a policy that does not score minus their effective load, so that every decision can be measured. */
export function completeScores(why: Explanation, view: FleetView): void {
  if (why.scored) return;
  for (let slot = 0; slot < view.size; slot++) {
    if (view.eligible[slot] === 1) why.scores[slot] = -effectiveLoad(view, slot);
  }
}

/** The best candidate's score minus the chosen one's, after `completeScores`; 0 when none was chosen. */
export function regretOf(why: Explanation, view: FleetView, chosen: number): number {
  if (chosen < 0) return 0;
  let best = why.scores[chosen]!;
  for (let slot = 0; slot < view.size; slot++) if (why.scores[slot]! > best) best = why.scores[slot]!;
  return best - why.scores[chosen]!;
}
