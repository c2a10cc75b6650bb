import { EventHeap } from '../kernel/events/event-heap.js';
import type { LatencyModel } from '../replica/latency/contract.js';
import { Replica } from '../replica/replica.js';
import type { ReplicaModelConfig } from '../replica/replica-model-config.js';
import type { ReplicaEvents, ReplicaRequests } from '../replica/replica-requests.js';
import { RequestOutcomes, STATUS } from '../replica/request-outcomes.js';
import { RequestTable, ROW_GROWS_CONTEXT } from '../workload/request-table.js';
import type { EngineClock } from './clock.js';

const NEVER = Number.POSITIVE_INFINITY;

/** One prompt in the replica, and the listener of its progress. */
export interface LiveSequence {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Keys of all full blocks of the prompt and of the response but its last token. */
  readonly keys: Int32Array;
  /**
   * `tokens` output tokens are generated, the last of them now. Tokens recomputed after a preemption are not reported
   * again.
   */
  produced(tokens: number, atUs: number): void;
  /** The request is over. */
  ended(atUs: number): void;
}

/** Writes output when all events of the present time have been processed. */
export interface Flushable {
  flush(): void;
}

/**
 * The simulator's replica, driven by a clock: the same batch, blocks and step times, but a token is reported when its
 * step is over. Arrivals are all it takes from outside, so a simulation of the same arrivals gives the same times.
 *
 * Rows of the request table are reused when their request has ended, because an engine runs indefinitely.
 */
export class EmulatedReplica implements ReplicaEvents {
  readonly replica: Replica;
  readonly outcomes = new RequestOutcomes(1024);
  readonly #clock: EngineClock;
  readonly #table = new RequestTable(1024);
  readonly #requests: ReplicaRequests;
  readonly #sequences: (LiveSequence | null)[] = [];
  readonly #rows = new Map<LiveSequence, number>();
  readonly #reported: number[] = [];
  readonly #freeRows: number[] = [];
  /** When the tokens of the running step are generated. */
  #stepEndUs = NEVER;
  /** Rows whose last step runs. They have left the batch: the next step may begin before that one is over. */
  readonly #lastTokens = new EventHeap();
  /** Rows that have their last token and end next. */
  readonly #endings = new EventHeap();
  /** The time of the latest event, and of the latest arrival. */
  #lastUs = -1;
  #lastArrivalUs = 0;
  #unflushed: Flushable[] = [];
  #frozenUs: number | null = null;
  #lostUs = 0;

  constructor(config: ReplicaModelConfig, latency: LatencyModel, clock: EngineClock) {
    this.#clock = clock;
    const keysOf = (row: number) => this.#sequences[row]?.keys ?? new Int32Array(0);
    this.#requests = {
      table: this.#table,
      outcomes: this.outcomes,
      keys: {
        fill: (row, blocks, out) => out.set(keysOf(row).subarray(0, blocks)),
        shared: (_, blocks) => blocks,
      },
      cachedTokens: new Int32Array(1024),
      urgency: () => 0,
    };
    this.replica = new Replica(config, latency, this.#requests, this, NEVER);
  }

  /** Model time; it stops while the engine is frozen. */
  nowUs(): number {
    return this.#frozenUs ?? Math.floor(this.#clock.nowUs() - this.#lostUs);
  }

  /** All requests in the replica. */
  get inside(): number {
    return this.#rows.size;
  }

  /**
   * Adds a sequence that arrived a moment ago, before it was read. Returns its arrival time in the replica: after all
   * events that have already been processed.
   */
  submit(sequence: LiveSequence, arrivedUs: number): number {
    this.#runTo(this.nowUs());
    const at = Math.max(arrivedUs, this.#lastUs + 1, this.#lastArrivalUs);
    this.#lastArrivalUs = at;
    const row = this.#take(sequence, at);
    this.replica.enqueue(row, at);
    this.#arm();
    return at;
  }

  /** Prompt tokens found in the cache. */
  cachedTokens(sequence: LiveSequence): number {
    return this.#requests.cachedTokens![this.#rows.get(sequence)!]!;
  }

  /** The time the sequence has waited for its seat. */
  queuedUs(sequence: LiveSequence): number {
    return this.outcomes.schedulingDelayUs[this.#rows.get(sequence)!]!;
  }

  /** Cancels a sequence: nothing more is reported of it. */
  abort(sequence: LiveSequence): void {
    const row = this.#rows.get(sequence);
    if (row === undefined) return;
    const now = this.nowUs();
    this.#runTo(now);
    if (this.#rows.get(sequence) === undefined) return;
    this.#rows.delete(sequence);
    // A row keeps its keys until the replica releases it.
    const status = this.outcomes.status[row];
    if (status === STATUS.completed) this.#sequences[row] = null;
    else this.replica.abort(row, now);
    this.#arm();
  }

  /** Schedules `flush` for when all due events have been processed. */
  later(job: Flushable): void {
    this.#unflushed.push(job);
  }

  freeze(): void {
    this.#frozenUs ??= this.nowUs();
    this.#clock.alarm(NEVER, this.#wake);
  }

  thaw(): void {
    if (this.#frozenUs === null) return;
    this.#lostUs = Math.ceil(this.#clock.nowUs()) - this.#frozenUs;
    this.#frozenUs = null;
    this.#arm();
  }

  firstToken(): void {}

  left(row: number, completed: boolean, atUs: number): void {
    if (completed) this.#lastTokens.push(atUs, row);
    else this.#free(row);
  }

  readonly #wake = (): void => {
    this.#runTo(this.nowUs());
    this.#arm();
  };

  #nextUs(): number {
    return Math.min(this.#stepEndUs, this.#lastTokens.nextUs, this.#endings.nextUs, this.replica.nextUs);
  }

  /** Processes all events up to a time, in order: the tokens of a step before the step that begins at its end. */
  #runTo(nowUs: number): void {
    for (let at = this.#nextUs(); at <= nowUs; at = this.#nextUs()) {
      this.#lastUs = at;
      if (this.#stepEndUs === at) this.#tellTokens(at);
      else if (this.#lastTokens.nextUs === at) this.#tellLastToken(this.#lastTokens.pop(), at);
      else if (this.#endings.nextUs === at) this.#end(this.#endings.pop(), at);
      else {
        const { steps } = this.replica.counters;
        this.replica.runNext();
        if (this.replica.counters.steps > steps) this.#stepEndUs = this.replica.stepEndUs;
      }
    }
    this.#flush();
  }

  #flush(): void {
    if (this.#unflushed.length === 0) return;
    const jobs = this.#unflushed;
    this.#unflushed = [];
    // The latest first: a late first token is noticed; later tokens are as late as those before them.
    for (let i = jobs.length - 1; i >= 0; i--) jobs[i]!.flush();
  }

  #arm(): void {
    if (this.#frozenUs === null) this.#clock.alarm(this.#nextUs() + this.#lostUs, this.#wake);
  }

  #tellTokens(at: number): void {
    this.#stepEndUs = NEVER;
    const { replica } = this;
    for (let place = 0; place < replica.batchSize; place++)
      this.#tell(replica.rowAt(place), replica.producedAt(place), at);
  }

  #tellLastToken(row: number, at: number): void {
    this.#tell(row, this.outcomes.producedTokens[row]!, at);
    // The model adds the time outside of steps to every token and to the whole request.
    this.#endings.push(Math.max(at, this.#table.arrivalUs[row]! + this.outcomes.e2eUs[row]!), row);
  }

  #tell(row: number, produced: number, at: number): void {
    if (produced <= this.#reported[row]!) return;
    this.#reported[row] = produced;
    this.#sequences[row]?.produced(produced, at);
  }

  #end(row: number, at: number): void {
    this.#sequences[row]?.ended(at);
    this.#free(row);
  }

  #take(sequence: LiveSequence, now: number): number {
    const table = this.#table;
    const { outcomes } = this;
    const row = this.#freeRows.pop() ?? table.append();
    outcomes.reserve(table.count);
    if (this.#requests.cachedTokens!.length < outcomes.status.length) this.#growCachedTokens();
    table.arrivalUs[row] = now;
    table.inputTokens[row] = sequence.inputTokens;
    table.outputTokens[row] = sequence.outputTokens;
    table.deadlineUs[row] = 0;
    // Responses are cached like prompts: the next turn of a session hits them.
    table.flags[row] = ROW_GROWS_CONTEXT;
    outcomes.status[row] = STATUS.in_pipeline;
    outcomes.schedulingDelayUs[row] = Number.NaN;
    this.#requests.cachedTokens![row] = 0;
    this.#reported[row] = 0;
    this.#sequences[row] = sequence;
    this.#rows.set(sequence, row);
    return row;
  }

  #growCachedTokens(): void {
    const grown = new Int32Array(this.outcomes.status.length);
    grown.set(this.#requests.cachedTokens!);
    this.#requests.cachedTokens = grown;
  }

  #free(row: number): void {
    const sequence = this.#sequences[row] ?? null;
    if (sequence !== null) this.#rows.delete(sequence);
    this.#sequences[row] = null;
    this.#freeRows.push(row);
  }
}
