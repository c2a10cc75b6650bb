import type { RequestTable } from '../../request-table.js';

/** Shifts arrivals that are dates so that the earliest is at 0; returns by how much. */
export function startAtZero({ arrivalUs, count }: RequestTable): number {
  let first = Number.POSITIVE_INFINITY;
  for (let row = 0; row < count; row++) first = Math.min(first, arrivalUs[row]!);
  for (let row = 0; row < count; row++) arrivalUs[row]! -= first;
  return first;
}
