import type { FinishedRequest } from '../request/request-record.js';

/** Requests kept for a fit; memory is allocated as they arrive, up to about 210 kB. */
const MOST_SAMPLES = 4096;
const FIRST_SAMPLES = 256;
/** Replicas that are sampled at a time: a fit needs many requests of one replica, so those of a large fleet would not do. */
const MOST_SAMPLED = 16;
/** A replica without a request for so long gives its place to another one. */
const AWAY_US = 600e6;
/** Replicas named in the samples. Where replicas come and go, the samples start over beyond this. */
const MOST_REPLICA_IDS = 1024;

/** Requests of one endpoint and engine as columns, in order of arrival at their replica. Plain data: a thread can receive it. */
export interface SampleColumns {
  readonly count: number;
  /** When it was sent to its replica, in the gateway's microseconds. */
  readonly arrivalUs: Float64Array;
  /** From then on; NaN for a response that was not streamed, not complete or not counted by the engine. */
  readonly ttftUs: Float64Array;
  readonly e2eUs: Float64Array;
  readonly inputTokens: Int32Array;
  readonly cachedTokens: Int32Array;
  readonly outputTokens: Int32Array;
  /** Requests that its replica had already. */
  readonly inFlight: Int32Array;
  /** Index into `replicaIds`. */
  readonly replica: Int32Array;
  readonly replicaIds: readonly string[];
}

/** The part of a request that a sample is taken from. */
export type SampledRequest = Pick<
  FinishedRequest,
  | 'cachedTokens'
  | 'dispatchedUs'
  | 'endedUs'
  | 'firstTokenUs'
  | 'inputTokens'
  | 'isMetered'
  | 'isStreamed'
  | 'outcome'
  | 'outputTokens'
  | 'replicaId'
>;

/**
 * The latest requests of one endpoint and engine, with what a fit of the engine's latency profile needs. A ring of typed
 * arrays: adding a request allocates nothing once the ring has grown.
 */
export class RequestSamples {
  /** Requests added so far, those that were overwritten included. */
  total = 0;
  readonly #most: number;
  #size = 0;
  #arrivalUs = new Float64Array(0);
  #ttftUs = new Float64Array(0);
  #e2eUs = new Float64Array(0);
  #tokens = new Int32Array(0);
  #places = new Int32Array(0);
  /** The numbers of replicas that are sampled. */
  readonly #replicas = new Map<string, number>();
  /** By number, those that are not sampled any more included. */
  readonly #ids: string[] = [];
  readonly #lastUs = new Float64Array(MOST_REPLICA_IDS);
  #lookedUs = Number.NEGATIVE_INFINITY;
  #used = 0;
  #next = 0;

  constructor(most = MOST_SAMPLES) {
    this.#most = most;
  }

  /** Samples that are held. */
  get count(): number {
    return this.#used;
  }

  /** Bytes of the ring. */
  get bytes(): number {
    const columns = [this.#arrivalUs, this.#ttftUs, this.#e2eUs, this.#tokens, this.#places];
    return columns.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** @param inFlight requests that the replica had when this one was sent to it */
  add(request: SampledRequest, inFlight: number): void {
    const replica = this.#replicaNumber(request.replicaId, request.dispatchedUs);
    if (replica < 0) return;
    if (this.#next === this.#size && this.#size < this.#most) this.#grow();
    const row = this.#next;
    const { dispatchedUs, endedUs, firstTokenUs } = request;
    const isWhole = request.outcome === 'ok' && request.isStreamed && request.isMetered && firstTokenUs >= 0;
    this.#arrivalUs[row] = dispatchedUs;
    this.#ttftUs[row] = isWhole ? firstTokenUs - dispatchedUs : Number.NaN;
    this.#e2eUs[row] = isWhole ? endedUs - dispatchedUs : Number.NaN;
    this.#tokens[3 * row] = request.inputTokens;
    this.#tokens[3 * row + 1] = request.cachedTokens;
    this.#tokens[3 * row + 2] = request.outputTokens;
    this.#places[2 * row] = inFlight;
    this.#places[2 * row + 1] = replica;
    this.total++;
    this.#used = Math.max(this.#used, row + 1);
    this.#next = row + 1 === this.#most ? 0 : row + 1;
  }

  /** Forgets everything: the engine is another one. */
  clear(): void {
    this.#used = 0;
    this.#next = 0;
    this.#replicas.clear();
    this.#ids.length = 0;
  }

  /** The samples of the replica that has most of them. */
  mostOfOneReplica(sinceUs = Number.NEGATIVE_INFINITY): number {
    const counts = new Int32Array(this.#ids.length);
    for (let row = 0; row < this.#used; row++) {
      if (this.#arrivalUs[row]! >= sinceUs) counts[this.#places[2 * row + 1]!]!++;
    }
    return counts.reduce((most, count) => Math.max(most, count), 0);
  }

  /** Copies of the samples that arrived at `sinceUs` or later, in order of arrival. */
  columns(sinceUs = Number.NEGATIVE_INFINITY): SampleColumns {
    const rows: number[] = [];
    for (let row = 0; row < this.#used; row++) if (this.#arrivalUs[row]! >= sinceUs) rows.push(row);
    rows.sort((a, b) => this.#arrivalUs[a]! - this.#arrivalUs[b]! || a - b);
    return {
      count: rows.length,
      arrivalUs: Float64Array.from(rows, (row) => this.#arrivalUs[row]!),
      ttftUs: Float64Array.from(rows, (row) => this.#ttftUs[row]!),
      e2eUs: Float64Array.from(rows, (row) => this.#e2eUs[row]!),
      inputTokens: Int32Array.from(rows, (row) => this.#tokens[3 * row]!),
      cachedTokens: Int32Array.from(rows, (row) => this.#tokens[3 * row + 1]!),
      outputTokens: Int32Array.from(rows, (row) => this.#tokens[3 * row + 2]!),
      inFlight: Int32Array.from(rows, (row) => this.#places[2 * row]!),
      replica: Int32Array.from(rows, (row) => this.#places[2 * row + 1]!),
      replicaIds: [...this.#ids],
    };
  }

  /** -1 for one that is not sampled. */
  #replicaNumber(id: string, nowUs: number): number {
    const number = this.#replicas.get(id) ?? this.#newNumber(id, nowUs);
    if (number >= 0) this.#lastUs[number] = nowUs;
    return number;
  }

  #newNumber(id: string, nowUs: number): number {
    if (this.#replicas.size === MOST_SAMPLED) {
      if (nowUs - this.#lookedUs < AWAY_US) return -1;
      this.#lookedUs = nowUs;
      for (const [known, number] of this.#replicas) {
        if (nowUs - this.#lastUs[number]! >= AWAY_US) this.#replicas.delete(known);
      }
      if (this.#replicas.size === MOST_SAMPLED) return -1;
    }
    if (this.#ids.length === MOST_REPLICA_IDS) this.clear();
    this.#replicas.set(id, this.#ids.length);
    return this.#ids.push(id) - 1;
  }

  #grow(): void {
    this.#size = Math.min(this.#most, Math.max(FIRST_SAMPLES, 2 * this.#size));
    this.#arrivalUs = grown(this.#arrivalUs, new Float64Array(this.#size));
    this.#ttftUs = grown(this.#ttftUs, new Float64Array(this.#size));
    this.#e2eUs = grown(this.#e2eUs, new Float64Array(this.#size));
    this.#tokens = grown(this.#tokens, new Int32Array(3 * this.#size));
    this.#places = grown(this.#places, new Int32Array(2 * this.#size));
  }
}

function grown<Column extends Float64Array | Int32Array>(old: Column, next: Column): Column {
  next.set(old);
  return next;
}
