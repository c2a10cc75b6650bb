import type { Trace } from '../trace.js';
import { selectRows } from './select-rows.js';

/**
 * The trace with new arrivals, by row, in order of time. Due times and deadlines move along, so that timeouts and
 * delays stay the same.
 */
export function retime(trace: Trace, arrivalUs: Float64Array): Trace {
  const rows = Int32Array.from({ length: trace.table.count }, (_, row) => row);
  rows.sort((a, b) => arrivalUs[a]! - arrivalUs[b]! || a - b);
  const moved = selectRows(trace, rows);
  const { table, wantedUs } = moved;
  for (let i = 0; i < rows.length; i++) {
    const arrival = arrivalUs[rows[i]!]!;
    const by = arrival - table.arrivalUs[i]!;
    table.arrivalUs[i] = arrival;
    // A request that arrives at 0 was due at 0: a file cannot express anything else.
    wantedUs[i] = arrival === 0 ? 0 : Math.max(0, wantedUs[i]! + by);
    if (table.deadlineUs[i]! > 0) table.deadlineUs[i] = Math.max(1, table.deadlineUs[i]! + by);
  }
  return { ...moved, unsorted: false };
}

/** When the first request arrives. */
export function firstArrival({ table }: Trace): number {
  let first = Number.POSITIVE_INFINITY;
  for (let row = 0; row < table.count; row++) first = Math.min(first, table.arrivalUs[row]!);
  return first;
}
