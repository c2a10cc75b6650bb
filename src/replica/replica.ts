import type { CountedValues } from '../kernel/counted-values.js';
import { EventFifo } from '../kernel/events/event-fifo.js';
import { EventHeap } from '../kernel/events/event-heap.js';
import { RunningBatch } from './batch/running-batch.js';
import { TokenGaps } from './batch/token-gaps.js';
import { createWaitQueue, type WaitQueue } from './batch/wait-queue.js';
import { isServable } from './context-limits.js';
import { type EngineRules, engineRules } from './engine-rules.js';
import { KvCache } from './kv/kv-cache.js';
import type { LatencyModel } from './latency/contract.js';
import { preemptionPolicy } from './preemption/registry.js';
import { ReplicaCounters } from './replica-counters.js';
import type { ReplicaModelConfig } from './replica-model-config.js';
import type { ReplicaEvents, ReplicaRequests } from './replica-requests.js';
import { STATUS } from './request-outcomes.js';
import { scheduler } from './scheduling/registry.js';
import { BatchFormation } from './step/batch-formation.js';
import { DecodeRun } from './step/decode-run.js';
import { StepEnd } from './step/step-end.js';
import { StepReports } from './step/step-reports.js';

const NEVER = Number.POSITIVE_INFINITY;

/**
 * One inference engine in virtual time: continuous batching over a paged KV cache. It knows nothing of other replicas
 * and of routing; its owner hands it requests and runs it up to a given time.
 *
 * Its events are few in kind and each kind is in order by itself, so there is no event queue: arrivals wait in a ring
 * for their queueing delay to pass, reports wait in another for the end of the running step, there is at most one
 * pending step, and only deadlines need a heap. At equal times: reports, queueing, the step, deadlines. So a step is
 * reported before the next one begins, and before what its owner does at the very end of it (see `advance`).
 */
export class Replica {
  readonly kv: KvCache;
  /** Time of the latest event; where a run ends for this replica. */
  clockUs = 0;
  /** When something happens next; Infinity when nothing will before the horizon. */
  nextUs = NEVER;
  /** End of the latest step that `runNext` has run: when its tokens are generated. */
  stepEndUs = 0;
  readonly counters = new ReplicaCounters();
  readonly reports: StepReports;

  readonly #config: ReplicaModelConfig;
  readonly #latency: LatencyModel;
  readonly #requests: ReplicaRequests;
  readonly #events: ReplicaEvents;
  readonly #horizonUs: number;
  readonly #rules: EngineRules;
  /** Arrivals that the step after the running one is too early for. */
  readonly #late: number[] = [];
  readonly #queue: WaitQueue;
  readonly #batch: RunningBatch;
  readonly #formation: BatchFormation;
  readonly #gaps: TokenGaps;
  readonly #decodes: DecodeRun;
  readonly #stepEnd: StepEnd;
  readonly #deadlines = new EventHeap();
  /** Arrivals whose queueing delay has not passed yet. */
  readonly #arriving = new EventFifo();
  #stepAtUs = NEVER;

  constructor(
    config: ReplicaModelConfig,
    latency: LatencyModel,
    requests: ReplicaRequests,
    events: ReplicaEvents,
    horizonUs: number,
  ) {
    this.#config = config;
    this.#latency = latency;
    this.#requests = requests;
    this.#events = events;
    this.#horizonUs = horizonUs;
    this.#rules = engineRules(config.engineRules);
    const kv = new KvCache(config.totalKvBlocks, config.blockSize, this.#rules.losesCopies);
    const batch = new RunningBatch(config.blockSize);
    const gaps = new TokenGaps(batch);
    const queue = createWaitQueue(scheduler(config.scheduler).order?.(requests) ?? null);
    const victims = preemptionPolicy(config.preemptionPolicy);
    const readsContexts = latency.readsContexts === true;
    const formation = new BatchFormation(config, batch, queue, kv, requests, victims, gaps, readsContexts);
    const { counters } = this;
    this.kv = kv;
    this.#batch = batch;
    this.#gaps = gaps;
    this.#queue = queue;
    this.#formation = formation;
    this.#decodes = new DecodeRun(batch, kv, formation, gaps, latency, config.blockSize);
    const reports = new StepReports(batch, kv.pool, requests, events, this.#rules.reportsStepEnds);
    this.reports = reports;
    this.#stepEnd = new StepEnd({ config, batch, kv, formation, gaps, latency, requests, reports, counters });
  }

  /** Whether it holds requests, be their next event after the horizon or not. */
  get isBusy(): boolean {
    return this.#batch.size + this.queueDepth + this.#arriving.size + this.reports.size > 0;
  }

  /** Requests whose queueing delay has not passed yet. */
  get arriving(): number {
    return this.#arriving.size;
  }

  get queueDepth(): number {
    return this.#queue.length + this.#late.length;
  }

  get batchSize(): number {
    return this.#batch.size;
  }

  get preemptions(): number {
    return this.#formation.preemptions;
  }

  get cacheHitRate(): number {
    const lookups = this.kv.hits + this.kv.misses;
    return lookups === 0 ? 0 : this.kv.hits / lookups;
  }

  get promptTokens(): number {
    return this.#formation.seating.promptTokens;
  }

  get cachedPromptTokens(): number {
    return this.#formation.seating.cachedPromptTokens;
  }

  /** The request at a place of the batch, from 0 to `batchSize` - 1. */
  rowAt(place: number): number {
    return this.#batch.row[this.#batch.order[place]!]!;
  }

  /** Output tokens that the request at a place of the batch has at the end of the latest step. */
  producedAt(place: number): number {
    const batch = this.#batch;
    const slot = batch.order[place]!;
    const row = batch.row[slot]!;
    if (batch.decodes[slot] === 0) return this.#formation.seating.kept?.produced(row) ?? 0;
    return batch.progress(slot) - this.#requests.table.inputTokens[row]! + 1;
  }

  /** Durations between tokens of completed requests, without the constant per-token overhead. */
  gapCounts(): CountedValues {
    return this.#gaps.counts();
  }

  /** A request arrives. Times never go back from call to call. */
  enqueue(row: number, atUs: number): void {
    this.#arriving.push(atUs + this.#latency.queueingUs, row);
    this.#tick(atUs);
    this.#plan();
  }

  /**
   * The client of a request has disconnected: the request releases its place, its seat and its blocks at once. One that
   * is still in transit to the queue is dropped when it gets there. A completed request must not be aborted.
   */
  abort(row: number, atUs: number): void {
    const status = this.#requests.outcomes.status[row];
    if (status === STATUS.queued || status === STATUS.running) this.#lose(row, atUs);
    else this.#requests.table.deadlineUs[row] = Math.max(atUs, 1);
  }

  /** Runs everything before `limitUs` and not after the horizon, and reports a step that ends at `limitUs`. */
  advance(limitUs: number): void {
    while (this.nextUs < limitUs) {
      const onlyDecodes =
        this.#stepAtUs === this.nextUs &&
        this.reports.size === 0 &&
        this.#late.length === 0 &&
        this.#formation.isSteady() &&
        this.#decodeOn(limitUs);
      if (!onlyDecodes) this.runNext();
    }
    if (this.nextUs === limitUs && this.reports.isDue(limitUs)) this.runNext();
  }

  /**
   * Runs the steps that only decode, up to whatever comes first: the limit, an arrival, a deadline. Whether there was
   * one.
   */
  #decodeOn(limitUs: number): boolean {
    const decodes = this.#decodes;
    const stopUs = Math.min(limitUs, this.#horizonUs + 1, this.#arriving.nextUs, this.#deadlines.nextUs + 1);
    this.#stepAtUs = decodes.run(this.#stepAtUs, stopUs);
    if (decodes.steps === 0) return false;
    this.#tick(decodes.lastUs);
    this.counters.steps += decodes.steps;
    this.counters.queueSamples += decodes.steps * this.#queue.length;
    this.#plan();
    return true;
  }

  /** Runs the events of the next moment: `nextUs`. */
  runNext(): void {
    const now = this.nextUs;
    if (this.reports.nextUs === now) {
      this.reports.deliver(now);
    } else if (this.#arriving.nextUs === now) {
      this.#tick(now);
      this.#queueArrival(now);
    } else if (this.#stepAtUs === now) {
      this.#tick(now);
      if (this.#batch.size + this.#queue.length === 0) this.#queueLate();
      if (this.#batch.size + this.#queue.length > 0) this.#step(now);
      else this.#stepAtUs = NEVER;
    } else {
      this.#expire(now);
    }
    this.#plan();
  }

  /** A request that has just finished has moved the clock to the end of its step already. */
  #tick(now: number): void {
    if (now > this.clockUs) this.clockUs = now;
  }

  #plan(): void {
    let next = this.#stepAtUs;
    if (this.#arriving.nextUs < next) next = this.#arriving.nextUs;
    if (this.reports.nextUs < next) next = this.reports.nextUs;
    if (this.#deadlines.size > 0 && this.#deadlines.nextUs < next) next = this.#deadlines.nextUs;
    this.nextUs = next > this.#horizonUs ? NEVER : next;
  }

  #queueArrival(now: number): void {
    const row = this.#arriving.pop();
    const { table, outcomes } = this.#requests;
    if (!isServable(table, row, this.#config)) {
      this.counters.dropped++;
      outcomes.status[row] = STATUS.dropped;
      this.#events.left(row, false, now);
      return;
    }
    this.counters.inputTokens += table.inputTokens[row]!;
    const deadline = table.deadlineUs[row]!;
    if (deadline > 0 && deadline <= now) {
      this.#timeOut(row, now);
      return;
    }
    outcomes.status[row] = STATUS.queued;
    if (this.#rules.schedulesAhead && this.#stepAtUs !== NEVER) this.#late.push(row);
    else this.#queue.push(row);
    if (deadline > 0 && deadline <= this.#horizonUs) this.#deadlines.push(deadline, row);
    if (this.#stepAtUs !== NEVER) return;
    this.#stepAtUs = this.#rules.finishesSteps ? Math.max(now, this.stepEndUs) : now;
    // The batch is empty. An engine that runs for months starts counting its steps again.
    this.#batch.clock = 0;
  }

  #queueLate(): void {
    for (let i = 0; i < this.#late.length; i++) this.#queue.push(this.#late[i]!);
    this.#late.length = 0;
  }

  #timeOut(row: number, now: number): void {
    this.counters.timedOut++;
    this.#formation.seating.gone(row);
    this.#requests.outcomes.status[row] = STATUS.timed_out;
    this.#events.left(row, false, now);
  }

  #expire(now: number): void {
    const row = this.#deadlines.pop();
    const status = this.#requests.outcomes.status[row];
    // A deadline of a request that has left by now is no event at all: not even the clock moves.
    if (status === STATUS.queued || status === STATUS.running) this.#lose(row, now);
  }

  /** A request that waits or runs leaves without its response. */
  #lose(row: number, now: number): void {
    this.#tick(now);
    const late = this.#late.indexOf(row);
    if (late >= 0) this.#late.splice(late, 1);
    else if (this.#requests.outcomes.status[row] === STATUS.queued) this.#queue.remove(row);
    else this.#formation.unseat(this.#batch.placeOfRow(row));
    this.#timeOut(row, now);
  }

  #step(now: number): void {
    const batch = this.#batch;
    const formation = this.#formation;
    formation.form(now);
    if (this.#late.length > 0) this.#queueLate();
    this.counters.queueSamples += this.#queue.length;
    this.counters.steps++;
    const duration = formation.shape.scheduled === 0 ? 1 : this.#latency.stepUs(formation.shape, now);
    const end = now + duration;
    this.stepEndUs = end;
    if (formation.idle.length > 0) this.#gaps.sitOutAll(formation.idle, duration);
    this.#gaps.record(duration);
    batch.clock++;
    if (this.#stepEnd.run(end) && end <= this.#horizonUs) this.#tick(end);
    this.#stepAtUs = batch.size > 0 || this.#queue.length > 0 ? end : NEVER;
  }
}
