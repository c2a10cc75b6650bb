import type { RequestOutcomes } from '../../replica/request-outcomes.js';

/** Sorted latencies in microseconds of some requests. */
export interface RequestSample {
  ttftUs: Float64Array;
  e2eUs: Float64Array;
  schedulingDelayUs: Float64Array;
}

/** The numbers of a column at some rows that are not NaN, sorted. */
export function sortedColumn(column: Float64Array, rows: Int32Array): Float64Array {
  const values = new Float64Array(rows.length);
  let n = 0;
  for (let i = 0; i < rows.length; i++) {
    const value = column[rows[i]!]!;
    if (!Number.isNaN(value)) values[n++] = value;
  }
  return values.subarray(0, n).sort();
}

export function sampleOf(outcomes: RequestOutcomes, rows: Int32Array): RequestSample {
  return {
    ttftUs: sortedColumn(outcomes.ttftUs, rows),
    e2eUs: sortedColumn(outcomes.e2eUs, rows),
    schedulingDelayUs: sortedColumn(outcomes.schedulingDelayUs, rows),
  };
}

/** Row numbers grouped by a column's value; rows stay in order inside a group. Values below 0 are left out. */
export function rowsBy(column: Int32Array, groups: number): Int32Array[] {
  const sizes = new Int32Array(groups);
  for (let row = 0; row < column.length; row++) {
    const key = column[row]!;
    if (key >= 0) sizes[key]!++;
  }
  const result = Array.from(sizes, (size) => new Int32Array(size));
  sizes.fill(0);
  for (let row = 0; row < column.length; row++) {
    const key = column[row]!;
    if (key >= 0) result[key]![sizes[key]!++] = row;
  }
  return result;
}
