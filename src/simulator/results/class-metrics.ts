import { type RequestOutcomes, STATUS } from '../../replica/request-outcomes.js';
import type { RequestTable } from '../../workload/request-table.js';
import type { ClassMetrics } from '../result-document.js';
import { meanAndTail, type RequestSample, type RequestSampler, rowsBy } from './request-sample.js';

/** Name of a request's SLO class in results: requests that name none are 'default'. */
function className(table: RequestTable, index: number): string {
  return table.sloClasses.name(index) || 'default';
}

/** Mean gap between tokens of a completed request; NaN for others. Zero for a request with at most one token. */
export function itlMeanUs(outcomes: RequestOutcomes, row: number): number {
  if (Number.isNaN(outcomes.e2eUs[row]!)) return Number.NaN;
  // A request that was cut off for its length counts one gap less: the systems we are compared with do the same.
  const cut = outcomes.status[row] === STATUS.length_capped ? 1 : 0;
  return outcomes.itlSumUs[row]! / Math.max(outcomes.producedTokens[row]! - 1 - cut, 1);
}

/** Mean gaps of the completed requests among some rows, `completed` of them, sorted. */
function sortedItlMeans(outcomes: RequestOutcomes, rows: Int32Array, completed: number): Float64Array {
  const means = new Float64Array(completed);
  let n = 0;
  for (let i = 0; i < rows.length; i++) {
    const mean = itlMeanUs(outcomes, rows[i]!);
    if (!Number.isNaN(mean)) means[n++] = mean;
  }
  return means.sort();
}

/** Rows by the name of their SLO class: those without one and those of a class called 'default' are one group. */
export function rowsByClass(table: RequestTable): Map<string, Int32Array> {
  const groups = new Map<string, Int32Array>();
  rowsBy(table.sloClass.subarray(0, table.count), table.sloClasses.size).forEach((rows, index) => {
    const name = className(table, index);
    const earlier = groups.get(name);
    groups.set(name, earlier === undefined ? rows : inOneList(earlier, rows));
  });
  return groups;
}

function inOneList(a: Int32Array, b: Int32Array): Int32Array {
  const rows = new Int32Array(a.length + b.length);
  rows.set(a);
  rows.set(b, a.length);
  return rows.sort();
}

/** Latencies per SLO class, for classes with at least one completed request, sorted by name. */
export function classMetrics(
  table: RequestTable,
  outcomes: RequestOutcomes,
  sampler: RequestSampler,
  all: RequestSample,
): Record<string, ClassMetrics> {
  const groups = rowsByClass(table);
  const entries: [string, ClassMetrics][] = [];
  for (const [name, rows] of groups) {
    const { completed, ttftUs, e2eUs } = groups.size === 1 ? all : sampler.sample(rows);
    if (completed === 0) continue;
    const itl = meanAndTail(sortedItlMeans(outcomes, rows, completed));
    entries.push([name, { count: completed, ttft: ttftUs, itl, e2e: e2eUs }]);
  }
  return Object.fromEntries(entries.sort(byName));
}

export function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}
