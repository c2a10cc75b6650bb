import { type EngineRules, engineRules } from '../../src/replica/engine-rules.js';
import type { LatencyModel } from '../../src/replica/latency/contract.js';
import type { ReplicaModelConfig } from '../../src/replica/replica-model-config.js';
import { BatchFormer } from './batch-former.js';
import type { ChainTable } from './chain-table.js';
import { EventHeap } from './event-heap.js';
import { KvCache } from './kv-cache.js';
import type { ReferenceRequest } from './request.js';
import { orderQueue } from './schedulers.js';
import { advance, shapeOf } from './step-work.js';

const REPORT = -1;
const ARRIVAL = 0;
const QUEUED = 1;
const STEP = 3;
const REQUEST_LEFT = 5;
const TIMEOUT = 6;

/** A request that left its instance for good. */
export interface Departure {
  request: ReferenceRequest;
  completed: boolean;
  atUs: number;
}

/** One engine: a wait queue, a running batch, KV blocks and its own clock. */
export class Instance {
  readonly events = new EventHeap();
  readonly kv: KvCache;
  readonly rules: EngineRules;
  readonly queue: ReferenceRequest[] = [];
  readonly batch: ReferenceRequest[] = [];
  clockUs = 0;
  preemptions = 0;
  kvAllocationFailures = 0;
  totalInputTokens = 0;
  #stepPending = false;
  #stepEndUs = 0;
  readonly #late: ReferenceRequest[] = [];
  #departures: Departure[] = [];
  /** Departures that are reported at the end of the running step, and the blocks that they hold until then. */
  #unreported: Departure[] = [];
  #unreportedBlocks = 0;

  constructor(
    readonly index: number,
    readonly config: ReplicaModelConfig,
    readonly latency: LatencyModel,
    readonly horizonUs: number,
    /** SLO priority to instance priority. */
    readonly urgency: (sloPriority: number) => number,
    chains: ChainTable,
  ) {
    this.rules = engineRules(config.engineRules);
    this.kv = new KvCache(config.totalKvBlocks, config.blockSize, chains, this.rules);
  }

  /** Requests that wait, whether the next step knows of them or not. */
  get waiting(): number {
    return this.queue.length + this.#late.length;
  }

  /** As the engine would report them: requests in their last step are still there. */
  get running(): number {
    return this.batch.length + this.#unreported.length;
  }

  get utilization(): number {
    return (this.kv.usedBlocks + this.#unreportedBlocks) / this.config.totalKvBlocks;
  }

  /** Whether its next event is a report, which comes before everything else of its time. */
  get reportsNext(): boolean {
    return this.events.nextPriority === REPORT;
  }

  /** A request reaches the engine; it joins the queue after the queueing time. */
  inject(request: ReferenceRequest, atUs: number): void {
    this.events.push(atUs, ARRIVAL, () => {
      this.events.push(atUs + this.latency.queueingUs, QUEUED, () => this.#enqueue(request));
    });
  }

  /** Runs the earliest event and returns the requests that left because of it. */
  processOne(): Departure[] {
    const event = this.events.pop();
    this.#departures = [];
    if (event.isStale?.()) return this.#departures;
    this.clockUs = event.timeUs;
    event.run();
    return this.#departures;
  }

  #enqueue(request: ReferenceRequest): void {
    const { maxModelLen, blockSize, totalKvBlocks } = this.config;
    const input = request.prompt.length;
    if (request.maxOutputTokens === 0 && input < maxModelLen) request.maxOutputTokens = maxModelLen - input;
    const tooLong = maxModelLen > 0 && (input >= maxModelLen || input + request.maxOutputTokens > maxModelLen);
    if (tooLong || request.maxOutputTokens < 0 || Math.ceil(input / blockSize) > totalKvBlocks) {
      this.#leave(request, 'dropped', this.clockUs);
      return;
    }
    this.totalInputTokens += input;
    if (request.deadlineUs > 0 && request.deadlineUs <= this.clockUs) {
      this.#leave(request, 'timed_out', this.clockUs);
      return;
    }
    request.instancePriority = this.urgency(request.sloPriority);
    request.status = 'queued';
    // Put together ahead of time, the next step knows nothing of requests that arrive during this one.
    (this.rules.schedulesAhead && this.#stepPending ? this.#late : this.queue).push(request);
    if (request.deadlineUs > 0 && request.deadlineUs <= this.horizonUs) {
      const hasLeft = () => request.status !== 'queued' && request.status !== 'running';
      this.events.push(request.deadlineUs, TIMEOUT, () => this.#timeOut(request), hasLeft);
    }
    if (this.#stepPending) return;
    this.#scheduleStep(this.rules.finishesSteps ? Math.max(this.clockUs, this.#stepEndUs) : this.clockUs);
  }

  #scheduleStep(atUs: number): void {
    this.#stepPending = true;
    this.events.push(atUs, STEP, () => this.#step());
  }

  #step(): void {
    const nowUs = this.clockUs;
    if (this.batch.length === 0 && this.queue.length === 0) this.queue.push(...this.#late.splice(0));
    if (this.batch.length === 0 && this.queue.length === 0) {
      this.#stepPending = false;
      return;
    }
    orderQueue(this.config.scheduler, this.queue);
    const former = new BatchFormer(this.config, this.kv, this.batch, this.queue);
    former.form();
    this.queue.push(...this.#late.splice(0));
    for (const request of former.admitted) {
      if (this.rules.keepsOutput && request.schedulingDelayUs !== null) continue;
      request.schedulingDelayUs = nowUs - request.arrivalUs;
    }
    this.preemptions += former.preemptions;

    const durationUs = Math.max(1, this.latency.stepUs(shapeOf(this.batch, this.kv.usedBlocks * this.kv.blockSize)));
    this.#stepEndUs = nowUs + durationUs;
    for (const request of this.batch) advance(request, nowUs + durationUs, durationUs, this.latency.outputTokenUs);
    for (const request of [...this.batch]) this.#completeIfDone(request, nowUs + durationUs);
    if (this.#unreported.length > 0) this.events.push(nowUs + durationUs, REPORT, () => this.#report());

    if (this.batch.length > 0 || this.queue.length > 0) this.#scheduleStep(nowUs + durationUs);
    else this.#stepPending = false;
  }

  #completeIfDone(request: ReferenceRequest, endUs: number): void {
    const input = request.prompt.length;
    const output = request.response.length;
    const { maxModelLen } = this.config;
    const done = request.progress >= input + Math.max(output, 1) - 1;
    const capped = !done && maxModelLen > 0 && request.progress >= maxModelLen - 1;
    if (!done && !capped) return;

    request.producedTokens = request.progress - input;
    if (done && request.producedTokens < output) {
      const stored = !this.rules.storesLastToken || this.kv.allocate(request, request.progress, request.progress + 1);
      if (!stored) this.kvAllocationFailures += 1;
      request.producedTokens += 1;
    }
    const gapsUs = request.tokenGapsUs.reduce((sum, gap) => sum + gap, 0);
    request.e2eUs = request.ttftUs! + gapsUs + (output > 0 ? this.latency.postDecodeUs : 0);
    this.#takeOut(this.batch, request);
    const before = this.kv.usedBlocks;
    this.kv.release(request);
    if (this.rules.reportsStepEnds) this.#unreportedBlocks += before - this.kv.usedBlocks;
    this.events.push(endUs, REQUEST_LEFT, () => {});
    this.#leave(request, done ? 'completed' : 'length_capped', endUs);
  }

  #timeOut(request: ReferenceRequest): void {
    this.kv.release(request);
    const waits = this.#late.includes(request) ? this.#late : this.queue;
    this.#takeOut(request.status === 'running' ? this.batch : waits, request);
    if (this.batch.length === 0 && !this.#stepPending && this.queue.length > 0) this.#scheduleStep(this.clockUs);
    this.#leave(request, 'timed_out', this.clockUs);
  }

  #takeOut(list: ReferenceRequest[], request: ReferenceRequest): void {
    list.splice(list.indexOf(request), 1);
  }

  #leave(
    request: ReferenceRequest,
    status: 'completed' | 'length_capped' | 'dropped' | 'timed_out',
    atUs: number,
  ): void {
    request.status = status;
    const completed = status === 'completed' || status === 'length_capped';
    const departures = completed && this.rules.reportsStepEnds ? this.#unreported : this.#departures;
    departures.push({ request, completed, atUs });
  }

  #report(): void {
    this.#departures.push(...this.#unreported.splice(0));
    this.#unreportedBlocks = 0;
  }
}
