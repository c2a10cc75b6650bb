import type { Replica } from '../../replica/replica.js';
import type { RequestOutcomes } from '../../replica/request-outcomes.js';
import type { RequestTable } from '../../workload/request-table.js';
import { rowsBy } from './request-sample.js';

/** Replicas whose mean wait queue is more than twice the mean over all replicas. */
export function holBlockingEvents(replicas: readonly Replica[]): number {
  if (replicas.length < 2) return 0;
  const means = replicas.map((replica) =>
    replica.counters.steps === 0 ? 0 : replica.counters.queueSamples / replica.counters.steps,
  );
  const overall = means.reduce((a, b) => a + b, 0) / means.length;
  return overall === 0 ? 0 : means.filter((m) => m > 2 * overall).length;
}

/** Pairs i before j with values[i] > 2 * values[j], counted while merge-sorting: n log n instead of n squared. */
export function countInversions(values: Float64Array): number {
  const scratch = new Float64Array(values.length);
  const sortAndCount = (from: number, to: number): number => {
    if (to - from < 2) return 0;
    const middle = (from + to) >> 1;
    let pairs = sortAndCount(from, middle) + sortAndCount(middle, to);
    for (let i = from, j = middle; i < middle; i++) {
      while (j < to && values[i]! > 2 * values[j]!) j++;
      pairs += j - middle;
    }
    for (let i = from, j = middle, k = from; k < to; k++) {
      scratch[k] = j >= to || (i < middle && values[i]! <= values[j]!) ? values[i++]! : values[j++]!;
    }
    values.set(scratch.subarray(from, to), from);
    return pairs;
  };
  return sortAndCount(0, values.length);
}

/**
 * Requests that took more than twice as long as a later one of the same class on the same replica. Only the scheduler
 * `priority-fcfs` promises anything about that order, so only it can break it.
 */
export function priorityInversions(
  table: RequestTable,
  outcomes: RequestOutcomes,
  instances: number,
  schedulerName: string,
): number {
  if (schedulerName !== 'priority-fcfs') return 0;
  const classes = table.sloClasses.size;
  // Requests without a class belong to the one called 'default', if there is one.
  const unnamed = Math.max(0, table.sloClasses.find('default'));
  const lane = Int32Array.from({ length: table.count }, (_, row) =>
    Number.isNaN(outcomes.e2eUs[row]!) ? -1 : outcomes.instance[row]! * classes + (table.sloClass[row]! || unnamed),
  );
  const groups = rowsBy(lane, instances * classes);
  let pairs = 0;
  for (const rows of groups) {
    rows.sort((a, b) => table.arrivalUs[a]! - table.arrivalUs[b]! || a - b);
    pairs += countInversions(Float64Array.from(rows, (row) => outcomes.e2eUs[row]!));
  }
  return pairs;
}
