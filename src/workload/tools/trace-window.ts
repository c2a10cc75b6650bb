import { arrivalOrder } from '../arrival-order.js';
import type { Trace } from '../trace.js';
import { firstArrival } from './retime.js';
import { sliceTrace } from './slice-trace.js';

/** A part of a trace by shares of its requests, from 0 to 1. */
export interface TraceWindow {
  from: number;
  to: number;
}

/** The requests of a window, in order of time; null when it has none. The times count from its first request. */
export function traceWindow(trace: Trace, { from, to }: TraceWindow): Trace | null {
  const order = arrivalOrder(trace.table);
  const first = Math.round(from * order.length);
  const end = Math.round(to * order.length);
  if (first >= end) return null;
  const at = (i: number) => trace.table.arrivalUs[order[i]!]! - firstArrival(trace);
  return sliceTrace(trace, {
    fromUs: at(first),
    ...(end < order.length ? { toUs: at(end) } : {}),
  });
}
