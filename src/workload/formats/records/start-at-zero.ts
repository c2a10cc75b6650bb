import type { RequestTable } from '../../request-table.js';

/** Moves arrivals that are dates so that the earliest is at 0; gives how far they moved. */
export function startAtZero({ arrivalUs, count }: RequestTable): number {
  let first = Number.POSITIVE_INFINITY;
  for (let row = 0; row < count; row++) first = Math.min(first, arrivalUs[row]!);
  for (let row = 0; row < count; row++) arrivalUs[row]! -= first;
  return first;
}
