import { arrivalOrder } from '../../arrival-order.js';
import { endpointEmpty, partEmpty, traceEmpty } from '../../errors.js';
import { OBSERVED_OUTCOMES, type Observed, type ObservedOutcome } from '../../observed.js';
import { RequestTable, setSourceId, sourceIdOf } from '../../request-table.js';
import { selectRows } from '../../tools/select-rows.js';
import type { Trace, TracePart } from '../../trace.js';
import { numberRounds, pausesAfterResponses } from '../records/number-rounds.js';
import { plainTrace } from '../records/plain-trace.js';
import { startAtZero } from '../records/start-at-zero.js';
import { recordMicroseconds, type TraceRecord } from '../records/trace-record.js';
import { TrafficBlocks } from './traffic-blocks.js';
import { trafficNotes } from './traffic-notes.js';

const MOST_CLASSES = 2 ** 16 - 1;
/** 4xx statuses that are not the fault of the request: it was too late, rate limited, or cancelled. */
const NOT_WRONG = new Set([408, 429, 499]);

/**
 * Builds a trace from the records of a gateway: selects the requested ones, and completes what depends on the last one.
 */
export class TrafficRows {
  readonly #part: TracePart;
  readonly #table = new RequestTable();
  readonly #blocks = new TrafficBlocks();
  /** By row. */
  readonly #dispatchUs: number[] = [];
  readonly #ttftUs: number[] = [];
  readonly #e2eUs: number[] = [];
  readonly #cachedTokens: number[] = [];
  readonly #outcome: number[] = [];
  readonly #replica: number[] = [];
  readonly #replicas: string[] = [];
  /** Rows whose response length is not known. */
  readonly #unanswered: number[] = [];
  /** Number of requests for each model, selected or not. */
  readonly #models = new Map<string, number>();
  #wrong = 0;
  #empty = 0;
  /** Endpoints of requests that were not asked for. */
  readonly #elsewhere = new Set<string>();
  /** Endpoints of the others. */
  readonly #endpoints = new Set<string>();

  constructor(part: TracePart) {
    this.#part = part;
  }

  add(record: TraceRecord, index: number): void {
    const arrivalUs = recordMicroseconds(record, 't_us', 1);
    const { endpoint } = this.#part;
    if (endpoint !== undefined && record.name('endpoint') !== endpoint) {
      this.#elsewhere.add(record.name('endpoint'));
      return;
    }
    const model = record.name('model');
    const status = record.count('status');
    const input = record.count('input_tokens');
    const output = isThere(record, 'output_tokens') ? record.count('output_tokens') : 0;
    const times = ['dispatch_us', 'first_token_us', 'end_us'].map((field) => timeAfter(record, field, arrivalUs));
    const isMetered = isThere(record, 'cached_tokens') && !Number.isNaN(times[1]!);
    const outcome = outcomeOf(status, record.name('outcome'), isMetered);
    this.#models.set(model, (this.#models.get(model) ?? 0) + 1);
    if (this.#part.model !== undefined && model !== this.#part.model) return;
    if (this.#part.answered && outcome !== 'ok') return;
    if (status >= 400 && status < 500 && !NOT_WRONG.has(status)) {
      this.#wrong++;
      return;
    }
    if (input === 0 && output === 0) {
      this.#empty++;
      return;
    }
    const table = this.#table;
    const row = table.append();
    setSourceId(table, row, index);
    table.arrivalUs[row] = arrivalUs;
    table.inputTokens[row] = input;
    table.outputTokens[row] = output;
    // A model that no replica serves would only get the request rejected.
    table.client[row] = table.clients.index(model);
    table.tenant[row] = table.tenants.index(record.name('tenant'));
    table.session[row] = table.sessions.index(record.name('session'));
    table.sloClass[row] = this.#sloClass(record);
    this.#addBlocks(record);
    this.#dispatchUs.push(times[0]!);
    this.#ttftUs.push(times[1]!);
    this.#e2eUs.push(times[2]!);
    this.#cachedTokens.push(isThere(record, 'cached_tokens') ? record.count('cached_tokens') : -1);
    if (isThere(record, 'endpoint')) this.#endpoints.add(record.name('endpoint'));
    this.#outcome.push(OBSERVED_OUTCOMES.indexOf(outcome));
    this.#replica.push(this.#replicaNumber(record.name('replica')));
    if (output === 0 && outcome !== 'ok') this.#unanswered.push(row);
  }

  /**
   * @param cutOff lines that end in the middle
   * @param place where a field of the n-th record stands
   */
  trace(path: string, cutOff: number, place: (index: number, field: string) => string): Trace {
    const table = this.#table;
    if (table.count === 0)
      throw this.#models.size + this.#elsewhere.size === 0 ? traceEmpty(path) : this.#nothingLeft(path);
    this.#guessResponses();
    startAtZero(table);
    const read: Trace = {
      ...plainTrace('traffic', path, table, (row, field) => place(sourceIdOf(table, row), field)),
      thinkTimeUs: this.#pauses(),
      observed: this.#observed(),
    };
    // Lines are in order of the ends of requests.
    const order = arrivalOrder(table);
    const trace = read.unsorted ? selectRows(read, order) : read;
    const blocks = this.#blocks.settle(trace.table, order, (row) => this.#cachedTokens[row]! >= 0);
    const notes = trafficNotes({
      ...{ cutOff, wrong: this.#wrong, empty: this.#empty, unanswered: this.#unanswered.length, blocks },
      models: this.#part.model === undefined ? this.#models : new Map(),
    });
    return { ...trace, header: { ...trace.header, mode: 'real' }, notes };
  }

  #nothingLeft(path: string): Error {
    const { answered, endpoint, model } = this.#part;
    if (endpoint !== undefined && this.#models.size === 0) return endpointEmpty(path, endpoint, [...this.#elsewhere]);
    const isLimited = answered || (model !== undefined && !this.#models.has(model));
    return isLimited ? partEmpty(path, model, [...this.#models.keys()]) : traceEmpty(path);
  }

  #sloClass(record: TraceRecord): number {
    const index = this.#table.sloClasses.index(record.name('slo_class'));
    if (index <= MOST_CLASSES) return index;
    throw record.invalid('slo_class', `there are more than ${MOST_CLASSES} classes`, 'give fewer different ones');
  }

  #addBlocks(record: TraceRecord): void {
    const ids = record.get('blocks') ?? [];
    if (!Array.isArray(ids)) throw record.invalid('blocks', 'is not a list', 'give a list of block ids');
    const size = ids.length === 0 ? 0 : record.count('block_size');
    if (ids.length > 0 && size === 0) throw record.invalid('block_size', 'is 0', 'give the tokens of a block');
    for (let i = 0; i < ids.length; i++) {
      const id: unknown = ids[i];
      if (typeof id !== 'string') {
        throw record.invalid('blocks', `${JSON.stringify(id)} is not a block id`, 'give ids as texts');
      }
      this.#blocks.add(id);
    }
    this.#blocks.endRow(size);
  }

  /**
   * A response that was not delivered is assumed to be as long as the average of its model, so that the load is right.
   */
  #guessResponses(): void {
    if (this.#unanswered.length === 0) return;
    const { client, clients, count, outputTokens } = this.#table;
    const sums = new Float64Array(clients.size);
    const responses = new Float64Array(clients.size);
    let sum = 0;
    let all = 0;
    for (let row = 0; row < count; row++) {
      if (OBSERVED_OUTCOMES[this.#outcome[row]!] !== 'ok') continue;
      sums[client[row]!]! += outputTokens[row]!;
      responses[client[row]!]!++;
      sum += outputTokens[row]!;
      all++;
    }
    for (const row of this.#unanswered) {
      const model = client[row]!;
      const mean = responses[model]! > 0 ? sums[model]! / responses[model]! : all > 0 ? sum / all : 1;
      outputTokens[row] = Math.round(mean);
    }
  }

  #pauses(): Float64Array | null {
    const table = this.#table;
    if (table.sessions.size === 1) return null;
    const endUs = this.#e2eUs.map((us, row) => table.arrivalUs[row]! + (us || 0));
    return pausesAfterResponses(table, numberRounds(table, null), endUs);
  }

  /** Replicas in order of appearance; -1 for none. */
  #replicaNumber(name: string): number {
    if (name === '') return -1;
    const known = this.#replicas.indexOf(name);
    return known >= 0 ? known : this.#replicas.push(name) - 1;
  }

  #observed(): Observed {
    return {
      dispatchUs: Float64Array.from(this.#dispatchUs),
      ttftUs: Float64Array.from(this.#ttftUs),
      e2eUs: Float64Array.from(this.#e2eUs),
      cachedTokens: Int32Array.from(this.#cachedTokens),
      outcome: Uint8Array.from(this.#outcome),
      served: { replicas: this.#replicas, by: Int32Array.from(this.#replica), endpoints: [...this.#endpoints] },
    };
  }
}

function isThere(record: TraceRecord, field: string): boolean {
  return (record.get(field) ?? null) !== null;
}

/** Microseconds from the arrival to an event; NaN for one that did not happen. */
function timeAfter(record: TraceRecord, field: string, arrivalUs: number): number {
  if (!isThere(record, field)) return Number.NaN;
  const us = recordMicroseconds(record, field, 1);
  if (us >= arrivalUs) return us - arrivalUs;
  throw record.invalid(field, `${us} is before the arrival at ${arrivalUs}`, 'give both by the same clock');
}

/**
 * A client that closes its connection after the last byte of a stream is recorded as one that left: the response is complete
 * all the same.
 * @param recorded the outcome as the gateway recorded it, empty where it did not
 * @param isMetered the engine reported the usage of a stream, which it does at its end
 */
function outcomeOf(status: number, recorded: string, isMetered: boolean): ObservedOutcome {
  if (status < 400 && (recorded === '' || recorded === 'ok' || (recorded === 'client_left' && isMetered))) return 'ok';
  return recorded === 'timeout' || status === 408 || status === 504 ? 'timeout' : 'incomplete';
}
