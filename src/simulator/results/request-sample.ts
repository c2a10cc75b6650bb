import type { RequestOutcomes } from '../../replica/request-outcomes.js';

/** Sorted latencies in microseconds of some requests. */
export interface RequestSample {
  ttftUs: Float64Array;
  e2eUs: Float64Array;
  schedulingDelayUs: Float64Array;
}

/** The latencies of each instance's requests, and of all of them together. */
export interface FleetSample {
  byInstance: RequestSample[];
  all: RequestSample;
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

export function fleetSample(outcomes: RequestOutcomes, rows: number, instances: number): FleetSample {
  const rowsOf = rowsBy(outcomes.instance.subarray(0, rows), instances);
  const byInstance = rowsOf.map((own) => ({
    ttftUs: sortedColumn(outcomes.ttftUs, own),
    e2eUs: sortedColumn(outcomes.e2eUs, own),
    schedulingDelayUs: sortedColumn(outcomes.schedulingDelayUs, own),
  }));
  // Nothing was measured of requests that never reached an instance, so the parts are the whole.
  const all = {
    ttftUs: merged(byInstance.map((sample) => sample.ttftUs)),
    e2eUs: merged(byInstance.map((sample) => sample.e2eUs)),
    schedulingDelayUs: merged(byInstance.map((sample) => sample.schedulingDelayUs)),
  };
  return { byInstance, all };
}

function merged(parts: readonly Float64Array[]): Float64Array {
  if (parts.length === 1) return parts[0]!;
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.sort();
}

/** Row numbers grouped by a column's value; rows stay in order inside a group. Values below 0 are left out. */
export function rowsBy(column: Int32Array | Uint16Array, groups: number): Int32Array[] {
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
