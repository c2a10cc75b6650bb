import { arrivalOrder } from '../arrival-order.js';
import type { Trace } from '../trace.js';
import { selectRows } from './select-rows.js';
import { sessionTurns } from './session-turns.js';

/**
 * The first `maxTurns` turns of every session, by turn and then time, and all requests outside sessions, in order of time. Shows
 * what a policy does when no session is long enough to load a replica by itself.
 */
export function capTurns(trace: Trace, maxTurns: number): Trace {
  const { begin, rows } = sessionTurns(trace.table);
  const dropped = new Uint8Array(trace.table.count);
  for (let session = 1; session + 1 < begin.length; session++) {
    for (let i = begin[session]! + maxTurns; i < begin[session + 1]!; i++) dropped[rows[i]!] = 1;
  }
  return selectRows(
    trace,
    arrivalOrder(trace.table).filter((row) => dropped[row] === 0),
  );
}
