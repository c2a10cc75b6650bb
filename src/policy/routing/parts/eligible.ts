import type { FleetView } from '../../fleet-view.js';

export function eligibleCount(view: FleetView): number {
  let count = 0;
  for (let i = 0; i < view.size; i++) if (view.eligible[i] !== 0) count++;
  return count;
}

/** The slot of the n-th eligible replica, counted from 0; there must be that many. */
export function nthEligible(view: FleetView, n: number): number {
  let slot = -1;
  for (let skip = n; skip >= 0; skip--) {
    do slot++;
    while (view.eligible[slot] === 0);
  }
  return slot;
}

/** The slot of the replica with this id, -1 when it is not in the fleet. */
export function slotOf(view: FleetView, id: string | undefined): number {
  if (id === undefined) return -1;
  for (let i = 0; i < view.size; i++) if (view.ids[i] === id) return i;
  return -1;
}
