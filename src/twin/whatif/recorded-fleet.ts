import { InputError } from '../../kernel/errors.js';
import type { EngineSettings, ObservedTrace } from '../../observe/fit/traces/observed-trace.js';
import { readAnyTrace } from '../../workload/formats/read-any-trace.js';
import { numberRounds } from '../../workload/formats/records/number-rounds.js';
import { OBSERVED_OUTCOMES, type Observed, type ServedBy } from '../../workload/observed.js';
import { linkResponses } from '../../workload/sessions/link-responses.js';
import { selectRows } from '../../workload/tools/select-rows.js';
import type { Trace } from '../../workload/trace.js';
import { noRequests, noResponses, notRecorded, severalEndpoints, tooFewResponses } from './errors.js';
import type { WhatIfQuestion } from './whatif-question.js';

/** With fewer responses chance decides. */
const LEAST_RESPONSES = 200;
/** Turns that begin after the response before them has ended: with fewer, sessions are no conversations. */
const LEAST_FOLLOWING = 0.95;
const OK = OBSERVED_OUTCOMES.indexOf('ok');

/** Recorded traffic with what each replica returned. */
export interface RecordedFleet {
  file: string;
  trace: Trace & { observed: Observed & { served: ServedBy } };
  /** Rows with a complete response of a replica. */
  answered: Int32Array;
  /** Later turns follow the responses before them. */
  isConversation: boolean;
  /** From the arrival to the replica, in the median. */
  routingUs: number;
}

export async function readRecordedFleet(question: WhatIfQuestion): Promise<RecordedFleet> {
  const { endpoint, lastUs, model, recording, recordingName: file = recording } = question;
  const part = { ...(model === undefined ? {} : { model }), ...(endpoint === undefined ? {} : { endpoint }) };
  const read = await readAnyTrace(recording, Object.keys(part).length === 0 ? undefined : part).catch((error) => {
    throw error instanceof InputError && error.code === 'TRACE_EMPTY' ? noRequests(file) : error;
  });
  if (read.observed?.served === undefined) throw notRecorded(file, read.format);
  const { by, endpoints } = read.observed.served;
  if (endpoints.length > 1) throw severalEndpoints(file, endpoints);
  const recent = lastUs === undefined ? read : since(read, read.table.arrivalUs[read.table.count - 1]! - lastUs);
  if (recent === null) throw noRequests(file);
  const trace = recent as RecordedFleet['trace'];
  const answered = answeredRows(trace);
  if (answered.length === 0) {
    const { dispatchUs } = read.observed;
    const isServed = by.some((replica, row) => replica >= 0 && dispatchUs[row]! >= 0);
    throw noResponses(file, trace.table.count, isServed);
  }
  if (answered.length < LEAST_RESPONSES) throw tooFewResponses(file, answered.length, LEAST_RESPONSES);
  linkResponses(trace);
  const dispatches = Float64Array.from(answered, (row) => trace.observed.dispatchUs[row]!).sort();
  return {
    file,
    trace,
    answered,
    isConversation: followsResponses(trace),
    routingUs: Math.round(dispatches[dispatches.length >> 1]!),
  };
}

/**
 * The requests of every replica as its engine saw them, from when they were sent to it.
 * @param most the first so many of each replica
 */
export function enginesOf(
  { trace }: Pick<RecordedFleet, 'trace'>,
  engine: EngineSettings,
  most = Number.POSITIVE_INFINITY,
): ObservedTrace[] {
  const { dispatchUs, outcome, served } = trace.observed;
  return served.replicas.map((name, replica) => {
    const rows: number[] = [];
    for (let row = 0; row < trace.table.count; row++) {
      if (served.by[row] === replica && dispatchUs[row]! >= 0) rows.push(row);
    }
    const sentUs = (row: number) => trace.table.arrivalUs[row]! + dispatchUs[row]!;
    rows.sort((a, b) => sentUs(a) - sentUs(b) || a - b);
    if (rows.length > most) rows.length = most;
    const part = selectRows(trace, Int32Array.from(rows));
    linkResponses(part);
    const { table } = part;
    rows.forEach((row, i) => {
      table.arrivalUs[i] = sentUs(row);
    });
    // An interrupted response does not show how long a complete one takes.
    const taken = (us: Float64Array) =>
      Float64Array.from(rows, (row) => (outcome[row] === OK ? us[row]! - dispatchUs[row]! : Number.NaN));
    return {
      name,
      table,
      ttftUs: taken(trace.observed.ttftUs),
      e2eUs: taken(trace.observed.e2eUs),
      warmUp: 0,
      maxInFlight: Number.POSITIVE_INFINITY,
      engine,
    };
  });
}

function answeredRows({ observed, table }: RecordedFleet['trace']): Int32Array {
  const rows: number[] = [];
  for (let row = 0; row < table.count; row++) {
    const isServed = observed.served.by[row]! >= 0 && observed.dispatchUs[row]! >= 0;
    if (isServed && observed.outcome[row] === OK && observed.ttftUs[row]! > 0) rows.push(row);
  }
  return Int32Array.from(rows);
}

/** The rows that arrived at a time or later; null for none. */
function since(trace: Trace, fromUs: number): Trace | null {
  const rows: number[] = [];
  for (let row = 0; row < trace.table.count; row++) if (trace.table.arrivalUs[row]! >= fromUs) rows.push(row);
  if (rows.length === 0) return null;
  const part = selectRows(trace, Int32Array.from(rows));
  const { table, wantedUs } = part;
  for (let row = 0; row < table.count; row++) {
    table.arrivalUs[row]! -= fromUs;
    wantedUs[row]! -= fromUs;
  }
  // A session that was under way begins with its first turn in this time.
  numberRounds(table, null);
  return { ...part, ...(trace.notes === undefined ? {} : { notes: trace.notes }) };
}

/**
 * Whether turns of a session begin when the one before has ended: then another fleet changes when they begin. A session
 * whose requests overlap, such as all requests of one user, is none.
 */
function followsResponses({ observed, table }: RecordedFleet['trace']): boolean {
  const endUs = new Map<number, number>();
  let turns = 0;
  let following = 0;
  for (let row = 0; row < table.count; row++) {
    const session = table.session[row]!;
    if (session === 0) continue;
    const before = endUs.get(session);
    if (before !== undefined) {
      turns++;
      if (table.arrivalUs[row]! >= before) following++;
    }
    endUs.set(session, table.arrivalUs[row]! + (observed.e2eUs[row] || 0));
  }
  return turns > 0 && following >= LEAST_FOLLOWING * turns;
}
