import type { RequestTable } from './request-table.js';

/** The rows in order of arrival; rows that arrive at the same microsecond keep their order in the table. */
export function arrivalOrder(table: RequestTable): Int32Array {
  const arrival = table.arrivalUs;
  const order = new Int32Array(table.count);
  for (let row = 0; row < order.length; row++) order[row] = row;
  return isSorted(table) ? order : order.sort((a, b) => arrival[a]! - arrival[b]! || a - b);
}

/** Whether the rows are in order of arrival. */
export function isSorted(table: RequestTable): boolean {
  for (let row = 1; row < table.count; row++) {
    if (table.arrivalUs[row]! < table.arrivalUs[row - 1]!) return false;
  }
  return true;
}
