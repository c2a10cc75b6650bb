import type { RequestTable } from '../../workload/request-table.js';
import { byName } from '../by-name.js';
import type { ClassMetrics } from '../result-document.js';
import { meanAndTail, type RequestSample, type RequestSampler, rowsByName } from './request-sample.js';

/** Name of a request's SLO class in results: requests that name none are 'default'. */
export function className(table: RequestTable, index: number): string {
  return table.sloClasses.name(index) || 'default';
}

/** Rows by the name of their SLO class: those without one and those of a class called 'default' are one group. */
export function rowsByClass(table: RequestTable): Map<string, Int32Array> {
  const column = table.sloClass.subarray(0, table.count);
  return rowsByName(column, table.sloClasses.size, (index) => className(table, index));
}

/** Latencies per SLO class, for classes with at least one completed request, sorted by name. */
export function classMetrics(
  table: RequestTable,
  sampler: RequestSampler,
  all: RequestSample,
): Record<string, ClassMetrics> {
  const only = table.sloClasses.size === 1;
  const groups = only ? new Map([[className(table, 0), null]]) : rowsByClass(table);
  const entries: [string, ClassMetrics][] = [];
  for (const [name, rows] of groups) {
    const { completed, ttftUs, e2eUs } = only ? all : sampler.sample(rows);
    if (completed === 0) continue;
    const itl = meanAndTail(sampler.sortedItlMeans(rows));
    entries.push([name, { count: completed, ttft: ttftUs, itl, e2e: e2eUs }]);
  }
  return Object.fromEntries(entries.sort(byName));
}
