import { mean, percentile } from '../../kernel/percentile.js';
import { type RequestOutcomes, STATUS } from '../../replica/request-outcomes.js';
import type { MeanAndTail } from '../result-document.js';
import { type LatencySpread, p99Ms, spreadOfSorted } from './latency-spread.js';

/** The latencies of some requests, summed up. */
export interface RequestSample {
  ttft: LatencySpread;
  e2e: LatencySpread;
  schedulingDelayP99Ms: number;
  /** Requests with an end-to-end time. */
  completed: number;
  ttftUs: MeanAndTail;
  e2eUs: MeanAndTail;
}

/** Sums up columns of outcomes. One buffer serves all: a run of millions of requests sorts one column at a time. */
export class RequestSampler {
  readonly #outcomes: RequestOutcomes;
  readonly #buffer: Float64Array;

  constructor(outcomes: RequestOutcomes, rows: number) {
    this.#outcomes = outcomes;
    this.#buffer = new Float64Array(rows);
  }

  /** @param rows null for all of them */
  sample(rows: Int32Array | null): RequestSample {
    const { e2eUs, schedulingDelayUs, ttftUs } = this.#outcomes;
    const delays = this.sorted(schedulingDelayUs, rows);
    const schedulingDelayP99Ms = p99Ms(delays);
    const firsts = this.sorted(ttftUs, rows);
    const ttft = spreadOfSorted(firsts);
    const ttftTail = meanAndTail(firsts);
    const ends = this.sorted(e2eUs, rows);
    return {
      ttft,
      e2e: spreadOfSorted(ends),
      schedulingDelayP99Ms,
      completed: ends.length,
      ttftUs: ttftTail,
      e2eUs: meanAndTail(ends),
    };
  }

  /** The numbers of a column at some rows that are not NaN, sorted. Good until the next call. */
  sorted(column: Float64Array, rows: Int32Array | null): Float64Array {
    return sortInto(this.#buffer, column, rows);
  }

  /** The mean gaps between tokens of the completed requests among some rows, sorted. Good until the next call. */
  sortedItlMeans(rows: Int32Array | null): Float64Array {
    const means = this.#buffer;
    const count = rows === null ? means.length : rows.length;
    let n = 0;
    for (let i = 0; i < count; i++) {
      const mean = itlMeanUs(this.#outcomes, rows === null ? i : rows[i]!);
      if (!Number.isNaN(mean)) means[n++] = mean;
    }
    return means.subarray(0, n).sort();
  }
}

/** Mean gap between tokens of a completed request; NaN for others. Zero for a request with at most one token. */
export function itlMeanUs(outcomes: RequestOutcomes, row: number): number {
  if (Number.isNaN(outcomes.e2eUs[row]!)) return Number.NaN;
  // A request that was cut off for its length counts one gap less: the systems we are compared with do the same.
  const cut = outcomes.status[row] === STATUS.length_capped ? 1 : 0;
  return outcomes.itlSumUs[row]! / Math.max(outcomes.producedTokens[row]! - 1 - cut, 1);
}

function sortInto(values: Float64Array, column: Float64Array, rows: Int32Array | null): Float64Array {
  const count = rows === null ? values.length : rows.length;
  let n = 0;
  for (let i = 0; i < count; i++) {
    const value = column[rows === null ? i : rows[i]!]!;
    if (!Number.isNaN(value)) values[n++] = value;
  }
  return values.subarray(0, n).sort();
}

export function meanAndTail(sorted: Float64Array): MeanAndTail {
  return { mean_us: mean(sorted), p99_us: percentile(sorted, 99) };
}

/** Row numbers grouped by a column's value; rows stay in order inside a group. Values below 0 are left out. */
export function rowsBy(column: Int16Array | Int32Array | Uint16Array, groups: number): Int32Array[] {
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

/** The same by name, where several values may have one name. */
export function rowsByName(
  column: Int32Array | Uint16Array,
  groups: number,
  nameOf: (index: number) => string,
): Map<string, Int32Array> {
  const named = new Map<string, Int32Array>();
  rowsBy(column, groups).forEach((rows, index) => {
    const name = nameOf(index);
    const earlier = named.get(name);
    named.set(name, earlier === undefined ? rows : inOneList(earlier, rows));
  });
  return named;
}

function inOneList(a: Int32Array, b: Int32Array): Int32Array {
  const rows = new Int32Array(a.length + b.length);
  rows.set(a);
  rows.set(b, a.length);
  return rows.sort();
}
