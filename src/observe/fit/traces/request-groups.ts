import type { ObservedTrace } from './observed-trace.js';

/** Groups by time, and by what else a latency depends on. */
const TIME_GROUPS = 8;
const KIND_GROUPS = 4;
/** A smaller group is not used. */
const LEAST_REQUESTS = 5;

/** Rows of a trace that are judged together: single requests meet chance, their mean meets the engine. */
export interface RequestGroup {
  rows: Int32Array;
  ttftUs: number;
  /** NaN where no request of the group has two tokens. */
  itlUs: number;
}

/** The rows of a trace up to `rows` in groups: by time, by length of prompt and of response, and by load. */
export function groupRequests(trace: ObservedTrace, rows: number): RequestGroup[] {
  const { table, ttftUs, e2eUs } = trace;
  const judged = judgedRows(trace, rows);
  const load = inFlight(trace, judged);
  const by = (value: (row: number, i: number) => number) =>
    judged.map((row, i) => [value(row, i), row] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const orders = [
    [TIME_GROUPS, by((row) => row)],
    [KIND_GROUPS, by((row) => table.inputTokens[row]!)],
    [KIND_GROUPS, by((row) => table.outputTokens[row]!)],
    [KIND_GROUPS, by((_, i) => load[i]!)],
  ] as const;
  return orders.flatMap(([groups, order]) =>
    Array.from({ length: groups }, (_, g) => {
      const from = Math.floor((g * order.length) / groups);
      const to = Math.floor(((g + 1) * order.length) / groups);
      return Int32Array.from(order.slice(from, to), ([, row]) => row);
    })
      .filter((one) => one.length >= LEAST_REQUESTS)
      .map((one) => ({ rows: one, ...meansOf(trace, one, ttftUs, e2eUs) })),
  );
}

/** Rows up to `rows` with known latencies, without the warm-up. */
export function judgedRows({ ttftUs, e2eUs, warmUp }: ObservedTrace, rows: number): number[] {
  const judged: number[] = [];
  for (let row = warmUp; row < rows; row++) if (ttftUs[row]! > 0 && e2eUs[row]! >= ttftUs[row]!) judged.push(row);
  return judged;
}

/** Rows that have to be replayed to judge the first `rows`: what arrives while they are under way holds them up. */
export function rowsToReplay(trace: ObservedTrace, rows: number): number {
  const { table, e2eUs } = trace;
  const endUs = judgedRows(trace, rows).reduce((end, row) => Math.max(end, table.arrivalUs[row]! + e2eUs[row]!), 0);
  let needed = rows;
  while (needed < table.count && table.arrivalUs[needed]! <= endUs) needed++;
  return needed;
}

export function meansOf(
  { table }: ObservedTrace,
  rows: Int32Array,
  ttftUs: Float64Array,
  e2eUs: Float64Array,
): { ttftUs: number; itlUs: number } {
  let ttft = 0;
  let decodeUs = 0;
  let gaps = 0;
  for (const row of rows) {
    ttft += ttftUs[row]!;
    decodeUs += e2eUs[row]! - ttftUs[row]!;
    gaps += table.outputTokens[row]! - 1;
  }
  return { ttftUs: ttft / rows.length, itlUs: gaps > 0 ? decodeUs / gaps : Number.NaN };
}

/** How many requests were under way when each of these arrived. */
function inFlight({ table, e2eUs }: ObservedTrace, judged: readonly number[]): number[] {
  const ends = judged.map((row) => table.arrivalUs[row]! + e2eUs[row]!).sort((a, b) => a - b);
  let over = 0;
  return judged.map((row, i) => {
    while (over < ends.length && ends[over]! <= table.arrivalUs[row]!) over++;
    return i - over;
  });
}
