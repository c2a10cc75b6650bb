import { type RequestOutcomes, STATUS } from '../../../replica/request-outcomes.js';
import type { RequestTable } from '../../../workload/request-table.js';
import { roundedLoad, SpanSums } from './span-sums.js';

/**
 * Requests at each replica over time: how many have arrived there and not left, as the mean of each stretch of time.
 */
export interface LoadOverTime {
  /** Length of a stretch. */
  stepUs: number;
  /** 'instances': one row for each; 'range': the least, the mean and the most of a large fleet. */
  kind: 'instances' | 'range';
  rows: number[][];
}

export const LOAD_STEPS = 100;
/** More lines than this cannot be distinguished. */
export const MAX_LOAD_ROWS = 16;

/**
 * Waiting in front of the cluster counts as waiting at the replica: outcomes do not record when a request left the
 * gateway.
 * @param most rows of replicas; a larger fleet is a range
 */
export function loadOverTime(
  table: RequestTable,
  outcomes: RequestOutcomes,
  instances: number,
  most = MAX_LOAD_ROWS,
): LoadOverTime {
  const endUs = lastMoment(table, outcomes);
  const stepUs = stepOf(endUs);
  const sums = new SpanSums(instances, LOAD_STEPS, stepUs);
  for (let row = 0; row < table.count; row++) {
    const instance = outcomes.instance[row]!;
    if (instance < 0) continue;
    const from = table.arrivalUs[row]!;
    sums.add(instance, from, Math.max(from, Math.min(endUs, leftAt(table, outcomes, row, endUs))));
  }
  const rows = Array.from({ length: instances }, (_, instance) => sums.means(instance));
  return instances <= most ? { stepUs, kind: 'instances', rows } : { stepUs, kind: 'range', rows: rangeOf(rows) };
}

/** The length of a stretch of a run that ends then. */
export function stepOf(endUs: number): number {
  return Math.max(1, Math.ceil(endUs / LOAD_STEPS));
}

/** When the request left its replica; the end of the run if it did not. */
export function leftAt(table: RequestTable, outcomes: RequestOutcomes, row: number, endUs: number): number {
  const e2eUs = outcomes.e2eUs[row]!;
  if (!Number.isNaN(e2eUs)) return table.arrivalUs[row]! + e2eUs;
  if (outcomes.status[row] === STATUS.timed_out) return table.deadlineUs[row]!;
  return outcomes.status[row] === STATUS.dropped ? table.arrivalUs[row]! : endUs;
}

/** When the last request left its replica. */
export function lastMoment(table: RequestTable, outcomes: RequestOutcomes): number {
  let endUs = 1;
  for (let row = 0; row < table.count; row++) {
    if (outcomes.instance[row]! < 0) continue;
    endUs = Math.max(endUs, leftAt(table, outcomes, row, table.arrivalUs[row]!));
  }
  return endUs;
}

function rangeOf(rows: readonly (readonly number[])[]): number[][] {
  const least = [...rows[0]!];
  const most = [...rows[0]!];
  const sum = rows[0]!.map(() => 0);
  for (const row of rows) {
    for (let step = 0; step < row.length; step++) {
      const value = row[step]!;
      least[step] = Math.min(least[step]!, value);
      most[step] = Math.max(most[step]!, value);
      sum[step]! += value;
    }
  }
  return [least, sum.map((total) => roundedLoad(total / rows.length)), most];
}
