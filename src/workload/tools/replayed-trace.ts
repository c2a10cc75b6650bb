import type { Trace } from '../trace.js';
import { type ArrivalTimes, atPlannedTimes, hasPlannedTimes, unknownCapNote } from './planned-times.js';

/** How the client of a trace behaves when it is replayed; what is absent is as recorded. */
export interface ClientOptions {
  /** 'planned' by default, where the trace has both. */
  arrivalTimes?: ArrivalTimes;
  /** Microseconds until the client gives up on a request; 0: never. */
  timeoutUs?: number;
  /** Requests in flight at most; 0: any number. */
  maxInFlight?: number;
}

export interface ClientTrace {
  trace: Trace;
  /** The times that requests arrive at; null where the trace has only one. */
  arrivalTimes: ArrivalTimes | null;
  /** Undefined: any number. */
  maxInFlight: number | undefined;
  /** What a reader has to know, a sentence each. */
  notes: readonly string[];
}

/** The trace as its client sends it in a replay. A time-out changes the given trace. */
export function replayedTrace(given: Trace, options: ClientOptions): ClientTrace {
  const arrivalTimes = hasPlannedTimes(given) ? (options.arrivalTimes ?? 'planned') : null;
  const note = arrivalTimes === 'planned' && options.maxInFlight === undefined ? unknownCapNote(given) : null;
  const trace = arrivalTimes === 'planned' ? atPlannedTimes(given) : given;
  if (options.timeoutUs !== undefined) setTimeouts(trace, options.timeoutUs);
  const cap = options.maxInFlight ?? trace.header.maxInFlight ?? 0;
  return { trace, arrivalTimes, maxInFlight: cap > 0 ? cap : undefined, notes: note === null ? [] : [note] };
}

/** Gives every request of a trace the same time-out, in place: its client gives up that long after sending it. 0: never. */
function setTimeouts({ table }: Trace, timeoutUs: number): void {
  for (let row = 0; row < table.count; row++) {
    table.deadlineUs[row] = timeoutUs > 0 ? table.arrivalUs[row]! + timeoutUs : 0;
  }
}
