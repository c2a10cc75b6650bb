import type { Trace } from '../trace.js';
import { selectRows } from './select-rows.js';

/** Which of the recorded times of a request count as its arrival. */
export type ArrivalTimes = 'planned' | 'sent';

/** A request that is sent later than this was held back by its client, not by a timer. */
const HELD_US = 100_000;
/** The share of such requests from which a client is taken to have held them back. */
const HELD_SHARE = 0.01;

/** Whether an observed trace has two times of its requests: when they were planned, and when the client sent them. */
export function hasPlannedTimes({ header, table, wantedUs }: Trace): boolean {
  return header.mode === 'real' && wantedUs !== table.arrivalUs;
}

/**
 * An observed trace with requests that arrive when they were planned, in order of time. Send times hold the speed of the observed
 * server: a client with a cap on requests in flight sent the next request when the server had completed one. Deadlines move along;
 * latencies still count from the sending.
 */
export function atPlannedTimes(trace: Trace): Trace {
  const { table, wantedUs } = trace;
  const rows = Int32Array.from({ length: table.count }, (_, row) => row);
  rows.sort((a, b) => wantedUs[a]! - wantedUs[b]! || table.arrivalUs[a]! - table.arrivalUs[b]! || a - b);
  const planned = selectRows(trace, rows);
  const { arrivalUs, deadlineUs } = planned.table;
  for (let i = 0; i < rows.length; i++) {
    const earlierUs = arrivalUs[i]! - planned.wantedUs[i]!;
    arrivalUs[i] = planned.wantedUs[i]!;
    if (deadlineUs[i]! > 0) deadlineUs[i] = Math.max(1, deadlineUs[i]! - earlierUs);
  }
  return { ...planned, unsorted: false, ...(trace.notes === undefined ? {} : { notes: trace.notes }) };
}

/**
 * A sentence for an observed trace whose client held requests back and whose header does not say at how many in flight; null where
 * it did not, or where the cap is known.
 */
export function unknownCapNote(trace: Trace): string | null {
  const { header, observed, table, wantedUs } = trace;
  if (!hasPlannedTimes(trace) || header.maxInFlight !== undefined || observed === undefined) return null;
  const delays = Float64Array.from({ length: table.count }, (_, row) => table.arrivalUs[row]! - wantedUs[row]!);
  const held = delays.filter((us) => us > HELD_US).length;
  if (held <= HELD_SHARE * table.count) return null;
  const most = (delays.reduce((longest, us) => Math.max(longest, us), 0) / 1e6).toFixed(1);
  const peak = mostInFlight(trace);
  return `${held} of ${table.count} requests were sent up to ${most} s after their planned time, with at most ${peak} in flight: if the client had such a cap, give --max-in-flight ${peak}, or use --arrival-times sent`;
}

/** The most requests that were in flight at a time, as recorded. A request without an end counts for nothing. */
function mostInFlight({ observed, table }: Trace): number {
  const rows = Int32Array.from({ length: table.count }, (_, row) => row).filter((row) => observed!.e2eUs[row]! >= 0);
  const sent = Float64Array.from(rows, (row) => table.arrivalUs[row]!).sort();
  const ends = Float64Array.from(rows, (row) => table.arrivalUs[row]! + observed!.e2eUs[row]!).sort();
  let most = 0;
  let ended = 0;
  for (let i = 0; i < sent.length; i++) {
    while (ended < ends.length && ends[ended]! <= sent[i]!) ended++;
    most = Math.max(most, i + 1 - ended);
  }
  return most;
}
