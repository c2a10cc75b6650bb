import { randomStream } from '../../kernel/random-stream.js';
import { arrivalOrder } from '../arrival-order.js';
import { arrivalProcess } from '../arrivals/registry.js';
import { fitImpossible } from '../errors.js';
import { PromptBlocks } from '../prompt-blocks.js';
import type { RequestTable } from '../request-table.js';
import type { ArrivalSpec } from '../spec/workload-spec.js';
import { promptTable } from '../tools/prompt-table.js';
import { selectRows } from '../tools/select-rows.js';
import type { Trace } from '../trace.js';
import { type FoundSessions, findSessions } from './find-sessions.js';
import { clockTick, countsByTick, fitArrival } from './fit-arrival.js';
import { sharedPrefixes } from './shared-prefixes.js';

/** How a trace's sessions arrive: what is kept when it is lengthened. */
export interface SessionArrivals {
  sessions: FoundSessions;
  /** When each session begins. */
  startUs: Float64Array;
  /** From the first arrival to a mean gap after the last. */
  durationUs: number;
  requestsPerS: number;
  arrival: ArrivalSpec;
}

export function sessionArrivals(trace: Trace): SessionArrivals {
  const table = promptTable(trace);
  const order = arrivalOrder(table);
  const first = table.arrivalUs[order[0]!]!;
  const betweenUs = table.arrivalUs[order[order.length - 1]!]! - first;
  if (betweenUs === 0) {
    const place = trace.place(order[0]!, 'arrival_time_us');
    const problem = order.length === 1 ? 'one request has no rate' : 'all requests arrive at the same time';
    throw fitImpossible(place, problem, 'give a trace with at least two arrival times');
  }
  const durationUs = (betweenUs * order.length) / (order.length - 1);
  const sessions = findSessions(table, order, sharedPrefixes(table));
  const startUs = Float64Array.from({ length: sessions.count }, (_, i) => {
    return table.arrivalUs[sessions.rows[sessions.begin[i]!]!]! - first;
  });
  const sorted = startUs.slice().sort();
  const gaps = Float64Array.from({ length: sorted.length - 1 }, (_, i) => sorted[i + 1]! - sorted[i]!);
  const tickUs = clockTick(order, table.arrivalUs);
  const counts = tickUs === 0 ? null : countsByTick(sorted, tickUs, durationUs);
  const requestsPerS = table.count / (durationUs / 1e6);
  return { sessions, startUs, durationUs, requestsPerS, arrival: fitArrival(gaps, counts) };
}

/**
 * About `requests` requests with the statistics of the trace at `factor` times its rate: its sessions, drawn with
 * replacement, begin as a stationary process with the rate and the variation of the recorded one. Within a session
 * everything stays as recorded; prompts of a copy share with others what sessions share in the trace, and nothing else.
 */
export function resampleTrace(trace: Trace, requests: number, factor: number, seed: number): Trace {
  const { sessions, durationUs, requestsPerS, arrival } = sessionArrivals(trace);
  const spanUs = (requests / (requestsPerS * factor)) * 1e6;
  const arrivals = randomStream(seed, 'resample/arrivals');
  const choices = randomStream(seed, 'resample/sessions');
  const gap = arrivalProcess(arrival.process).create(durationUs / sessions.count / factor, {
    cv: arrival.cv ?? 0,
    shape: 0,
    scaleUs: 0,
  });
  const longestUs = longestSession(trace.table, sessions);
  const rows: number[] = [];
  const copies: number[] = [];
  const times: number[] = [];
  // Sessions begin up to the longest one early, so that the load is full from the start.
  let copy = 0;
  for (let atUs = -longestUs + gap.draw(arrivals); atUs < spanUs; atUs += gap.draw(arrivals)) {
    const session = choices.below(sessions.count);
    const begin = sessions.begin[session]!;
    const firstUs = trace.table.arrivalUs[sessions.rows[begin]!]!;
    for (let i = begin; i < sessions.begin[session + 1]!; i++) {
      const row = sessions.rows[i]!;
      const timeUs = Math.round(atUs + trace.table.arrivalUs[row]! - firstUs);
      if (timeUs < 0 || timeUs >= spanUs) continue;
      rows.push(row);
      copies.push(copy);
      times.push(timeUs);
    }
    copy++;
  }
  const order = times.map((_, i) => i).sort((a, b) => times[a]! - times[b]! || a - b);
  const ordered = Int32Array.from(order, (i) => rows[i]!);
  const resampled = selectRows(trace, ordered);
  const { table, wantedUs } = resampled;
  for (const [place, i] of order.entries()) {
    const by = times[i]! - table.arrivalUs[place]!;
    table.arrivalUs[place] = times[i]!;
    wantedUs[place] = times[i]!;
    if (table.deadlineUs[place]! > 0) table.deadlineUs[place] = Math.max(1, table.deadlineUs[place]! + by);
    table.idShift[place] = 0;
    const session = table.session[place]!;
    if (session > 0) table.session[place] = copiedSession(table, session, copies[i]!);
  }
  if (trace.table.blocks !== null) {
    table.blocks = copiedBlocks(
      trace.table.blocks,
      sessions,
      ordered,
      Int32Array.from(order, (i) => copies[i]!),
    );
  }
  return { ...resampled, unsorted: false };
}

function longestSession({ arrivalUs }: RequestTable, { begin, count, rows }: FoundSessions): number {
  let longest = 0;
  for (let session = 0; session < count; session++) {
    longest = Math.max(longest, arrivalUs[rows[begin[session + 1]! - 1]!]! - arrivalUs[rows[begin[session]!]!]!);
  }
  return longest;
}

/** A session of its own for each copy. */
function copiedSession(table: RequestTable, session: number, copy: number): number {
  const own = table.sessions.index(`${table.sessions.name(session)}/${copy}`);
  const context = table.contextTokens[session];
  if (context !== undefined) table.contextTokens[own] = context;
  return own;
}

/** Blocks that several recorded sessions have are the same in every copy; all others are new in each. */
function copiedBlocks(
  from: PromptBlocks,
  { begin, count, rows: bySession }: FoundSessions,
  rows: Int32Array,
  copies: Int32Array,
): PromptBlocks {
  const SHARED = -2;
  const owner = new Int32Array(from.count).fill(-1);
  for (let session = 0; session < count; session++) {
    for (let i = begin[session]!; i < begin[session + 1]!; i++) {
      const row = bySession[i]!;
      for (let b = 0; b < from.blocksOf(row); b++) {
        const block = from.block(row, b);
        owner[block] = owner[block] === -1 || owner[block] === session ? session : SHARED;
      }
    }
  }
  const blocks = new PromptBlocks(from.blockTokens);
  const own = new Map<number, Map<number, number>>();
  let next = from.count;
  for (let i = 0; i < rows.length; i++) {
    for (let b = 0; b < from.blocksOf(rows[i]!); b++) {
      const block = from.block(rows[i]!, b);
      if (owner[block] === SHARED) {
        blocks.add(block);
        continue;
      }
      const ofCopy = own.get(copies[i]!) ?? new Map<number, number>();
      own.set(copies[i]!, ofCopy);
      const id = ofCopy.get(block) ?? next++;
      ofCopy.set(block, id);
      blocks.add(id);
    }
    blocks.endRow(i);
  }
  return blocks;
}
