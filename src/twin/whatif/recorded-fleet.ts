import { InputError } from '../../kernel/errors.js';
import type { EngineSettings, ObservedTrace } from '../../observe/fit/traces/observed-trace.js';
import { readAnyTrace } from '../../workload/formats/read-any-trace.js';
import { numberRounds } from '../../workload/formats/records/number-rounds.js';
import { OBSERVED_OUTCOMES, type Observed, type ServedBy } from '../../workload/observed.js';
import { linkResponses } from '../../workload/sessions/link-responses.js';
import { selectRows } from '../../workload/tools/select-rows.js';
import type { Trace } from '../../workload/trace.js';
import { noRequests, noResponses, noStreams, notRecorded, severalEndpoints, tooFewResponses } from './errors.js';
import { type RecordedTurns, recordedTurns } from './recording/recorded-turns.js';
import { firstRowSince, type StablePart, stablePart, stablePartNote } from './recording/stable-part.js';
import { forgetUnstreamed } from './recording/streamed-responses.js';
import type { WhatIfQuestion } from './whatif-question.js';

/** With fewer responses chance decides. */
const LEAST_RESPONSES = 200;
/** Caches hold nothing older than so many times their size of tokens, but for what all requests share; more requests would take too long. */
const WARM_UP_SIZES = 2;
const MOST_WARM_UP = 10_000;
const OK = OBSERVED_OUTCOMES.indexOf('ok');

/** Recorded traffic with what each replica returned. */
export interface RecordedFleet {
  file: string;
  trace: Trace & { observed: Observed & { served: ServedBy } };
  /** The first so many rows came before the part that was asked about: they fill caches, and nothing is measured of them. */
  warmUp: number;
  /** Rows of that part with a complete response of a replica. */
  answered: Int32Array;
  /** By row: 1 for those. */
  isAnswered: Uint8Array;
  /** Requests that follow responses; null for none. */
  turns: RecordedTurns | null;
  /** From the arrival to the replica, in the median. */
  routingUs: number;
}

/** @param warms whether requests before the part that is asked about are simulated as well, so that its caches are not empty */
export async function readRecordedFleet(question: WhatIfQuestion, warms = false): Promise<RecordedFleet> {
  const { endpoint, lastUs, model, recording, recordingName: file = recording } = question;
  const part = { ...(model === undefined ? {} : { model }), ...(endpoint === undefined ? {} : { endpoint }) };
  const read = await readAnyTrace(recording, Object.keys(part).length === 0 ? undefined : part).catch((error) => {
    throw error instanceof InputError && error.code === 'TRACE_EMPTY' ? noRequests(file) : error;
  });
  if (read.observed?.served === undefined) throw notRecorded(file, read.format);
  const { by, endpoints } = read.observed.served;
  if (endpoints.length > 1) throw severalEndpoints(file, endpoints);
  const { arrivalUs, count } = read.table;
  const first = lastUs === undefined ? 0 : firstRowSince(read.table, arrivalUs[count - 1]! - lastUs);
  if (first === count) throw noRequests(file);
  const served = read as RecordedFleet['trace'];
  const stable = stablePart(served, first);
  const warm = warms && stable.from === first ? warmUpRows(served, stable, question.replica) : [];
  const warmUp = warm.length;
  const trace = rowsOf(served, stable, warm);
  const unstreamed = forgetUnstreamed(trace);
  const answered = answeredRows(trace, warmUp);
  if (answered.length === 0) {
    if (unstreamed > 0) throw noStreams(file, unstreamed);
    const { dispatchUs } = read.observed;
    const isServed = by.some((replica, row) => replica >= 0 && dispatchUs[row]! >= 0);
    throw noResponses(file, trace.table.count - warmUp, isServed);
  }
  if (answered.length < LEAST_RESPONSES) throw tooFewResponses(file, answered.length, LEAST_RESPONSES);
  linkResponses(trace);
  const isAnswered = new Uint8Array(trace.table.count);
  for (const row of answered) isAnswered[row] = 1;
  const dispatches = Float64Array.from(answered, (row) => trace.observed.dispatchUs[row]!).sort();
  return {
    file,
    trace: unstreamed === 0 ? trace : { ...trace, notes: [...(trace.notes ?? []), unstreamedNote(unstreamed)] },
    warmUp,
    answered,
    isAnswered,
    turns: recordedTurns(trace),
    routingUs: Math.round(dispatches[dispatches.length >> 1]!),
  };
}

/** The requests of one replica, and how long each took from its arrival at the gateway until it was sent. */
export interface RecordedEngine extends ObservedTrace {
  readonly dispatchUs: Float64Array;
}

/**
 * The requests of every replica as its engine saw them, from when they were sent to it. Nothing was measured of those that only fill caches.
 * @param most so many of each replica, and as many that fill its cache
 */
export function enginesOf(
  { trace, warmUp }: Pick<RecordedFleet, 'trace' | 'warmUp'>,
  engine: EngineSettings,
  most = Number.POSITIVE_INFINITY,
): RecordedEngine[] {
  const { dispatchUs, outcome, served } = trace.observed;
  return served.replicas.map((name, replica) => {
    const rows: number[] = [];
    for (let row = 0; row < trace.table.count; row++) {
      if (served.by[row] === replica && dispatchUs[row]! >= 0) rows.push(row);
    }
    const sentUs = (row: number) => trace.table.arrivalUs[row]! + dispatchUs[row]!;
    rows.sort((a, b) => sentUs(a) - sentUs(b) || a - b);
    const warm = rows.filter((row) => row < warmUp).length;
    rows.splice(0, warm - most);
    rows.length = Math.min(rows.length, Math.min(warm, most) + most);
    const part = selectRows(trace, Int32Array.from(rows));
    linkResponses(part);
    const { table } = part;
    rows.forEach((row, i) => {
      table.arrivalUs[i] = sentUs(row);
    });
    // An interrupted response does not show how long a complete one takes.
    const taken = (us: Float64Array) =>
      Float64Array.from(rows, (row) =>
        row >= warmUp && outcome[row] === OK ? us[row]! - dispatchUs[row]! : Number.NaN,
      );
    return {
      name,
      table,
      ttftUs: taken(trace.observed.ttftUs),
      e2eUs: taken(trace.observed.e2eUs),
      dispatchUs: Float64Array.from(rows, (row) => dispatchUs[row]!),
      warmUp: Math.min(warm, most),
      maxInFlight: Number.POSITIVE_INFINITY,
      engine,
    };
  });
}

function unstreamedNote(count: number): string {
  return `responses that were not streamed: ${count}; they count as load, and nothing is measured of them`;
}

function answeredRows({ observed, table }: RecordedFleet['trace'], warmUp: number): Int32Array {
  const rows: number[] = [];
  for (let row = warmUp; row < table.count; row++) {
    const isServed = observed.served.by[row]! >= 0 && observed.dispatchUs[row]! >= 0;
    if (isServed && observed.outcome[row] === OK && observed.ttftUs[row]! > 0) rows.push(row);
  }
  return Int32Array.from(rows);
}

/** Rows before a part that fill the caches of its replicas, first to last. */
function warmUpRows(
  { observed, table }: RecordedFleet['trace'],
  { from, replicas }: StablePart,
  { blockSize, totalKvBlocks }: EngineSettings,
): number[] {
  let tokens = WARM_UP_SIZES * replicas.length * blockSize * totalKvBlocks;
  const rows: number[] = [];
  for (let row = from - 1; row >= 0 && rows.length < MOST_WARM_UP && tokens > 0; row--) {
    if (!replicas.includes(observed.served.by[row]!)) continue;
    rows.push(row);
    tokens -= table.inputTokens[row]! + table.outputTokens[row]!;
  }
  return rows.reverse();
}

/** These rows, from time 0 on, with the replicas of the part alone. */
function rowsOf(trace: RecordedFleet['trace'], part: StablePart, warm: readonly number[]): RecordedFleet['trace'] {
  const { from, replicas, to } = part;
  const { served } = trace.observed;
  const isWhole = from - warm.length === 0 && to === trace.table.count;
  if (isWhole && replicas.length === served.replicas.length) return trace;
  const rows = Int32Array.from({ length: warm.length + to - from }, (_, i) => warm[i] ?? from + i - warm.length);
  const selected = selectRows(trace, rows) as RecordedFleet['trace'];
  const { observed, table, wantedUs } = selected;
  const fromUs = table.arrivalUs[0]!;
  for (let row = 0; row < table.count; row++) {
    table.arrivalUs[row]! -= fromUs;
    wantedUs[row]! -= fromUs;
  }
  // A session that was under way begins with its first turn in this time.
  numberRounds(table, null);
  const number = new Map(replicas.map((replica, i) => [replica, i]));
  const by = observed.served.by.map((replica) => number.get(replica) ?? -1);
  const names = replicas.map((replica) => served.replicas[replica]!);
  const notes = [...(trace.notes ?? []), ...(part.changes.length === 0 ? [] : [stablePartNote(part, trace.table)])];
  return { ...selected, observed: { ...observed, served: { ...served, by, replicas: names } }, notes };
}
