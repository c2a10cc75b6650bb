import type { Trace } from '../trace.js';
import { firstArrival, retime } from './retime.js';

/**
 * The trace with `factor` times its rate: sessions and single requests start closer together, and within a session every turn
 * keeps its distance from the first. The first arrival of the trace stays where it is. Null when times leave what can be
 * counted in microseconds.
 */
export function scaleRate(trace: Trace, factor: number): Trace | null {
  const { table } = trace;
  const { arrivalUs, count, session } = table;
  const origin = firstArrival(trace);
  const started = new Float64Array(table.sessions.size).fill(Number.POSITIVE_INFINITY);
  for (let row = 0; row < count; row++) {
    started[session[row]!] = Math.min(started[session[row]!]!, arrivalUs[row]!);
  }
  const scaled = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const start = session[row]! > 0 ? started[session[row]!]! : arrivalUs[row]!;
    scaled[row] = origin + Math.round((start - origin) / factor) + (arrivalUs[row]! - start);
    if (scaled[row]! > Number.MAX_SAFE_INTEGER) return null;
  }
  return retime(trace, scaled);
}
