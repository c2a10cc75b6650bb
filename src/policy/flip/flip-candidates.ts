import type { FleetView } from '../fleet-view.js';
import type { FlipSignal } from './flip-signals.js';

/** Fleets up to this size are searched whole. */
const MOST_CANDIDATES = 32;
/** Replicas that a search looks at in all, so that larger fleets are searched in fewer places. */
const MOST_LOOKS = 8192;
const LEAST_CANDIDATES = 8;

/**
 * The replicas whose signals a search changes, in fleet order. In a large fleet: the chosen one, those that are chosen when it and
 * its successors may not be, and those with the least and the greatest value of each signal.
 */
export function flipCandidates(
  view: FleetView,
  chosen: number,
  signals: readonly FlipSignal[],
  again: () => number,
): { slots: number[]; eligible: number } {
  const eligible = Array.from({ length: view.size }, (_, slot) => slot).filter((slot) => view.eligible[slot] === 1);
  const most = Math.max(LEAST_CANDIDATES, Math.min(MOST_CANDIDATES, Math.floor(MOST_LOOKS / view.size)));
  if (eligible.length <= most) return { slots: eligible, eligible: eligible.length };
  const slots = new Set<number>();
  const next = runnersUp(view, chosen, Math.ceil(most / 2), again);
  const extremes = signals.flatMap(({ column }) => extremesOf(eligible, column));
  for (const slot of [...next, ...extremes, ...eligible]) if (slots.size < most) slots.add(slot);
  return { slots: [...slots].sort((a, b) => a - b), eligible: eligible.length };
}

/** The chosen replica and those that would be chosen in its place, one after the other. */
function runnersUp(view: FleetView, chosen: number, count: number, again: () => number): number[] {
  const found: number[] = [];
  try {
    for (let slot = chosen; slot >= 0 && found.length < count; slot = again()) {
      found.push(slot);
      view.eligible[slot] = 0;
    }
  } finally {
    for (const slot of found) view.eligible[slot] = 1;
  }
  return found;
}

function extremesOf(eligible: readonly number[], column: Int32Array | Float64Array): number[] {
  const best = (isBetter: (a: number, b: number) => boolean) =>
    eligible.reduce((found, slot) => (isBetter(column[slot]!, column[found]!) ? slot : found));
  return [best((a, b) => a < b), best((a, b) => a > b)];
}
