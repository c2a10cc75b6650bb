import { HeadKeys } from '../batch/head-keys.js';
import { KeptOutput } from '../batch/kept-output.js';
import type { RunningBatch } from '../batch/running-batch.js';
import type { TokenGaps } from '../batch/token-gaps.js';
import type { WaitQueue } from '../batch/wait-queue.js';
import { type EngineRules, engineRules } from '../engine-rules.js';
import type { KvCache } from '../kv/kv-cache.js';
import { addPrefill } from '../latency/batch-shape.js';
import type { ReplicaModelConfig } from '../replica-model-config.js';
import type { ReplicaRequests } from '../replica-requests.js';
import { STATUS } from '../request-outcomes.js';
import type { StepPlan } from './step-plan.js';

/** Gives waiting requests seats in the batch, head of the queue only, and remembers which requests lost one. */
export class Seating {
  /** Prompt tokens found in the cache / looked up, when a request got its first seat. */
  cachedPromptTokens = 0;
  promptTokens = 0;

  readonly #plan: StepPlan;
  readonly #batch: RunningBatch;
  readonly #queue: WaitQueue;
  readonly #kv: KvCache;
  readonly #requests: ReplicaRequests;
  readonly #blockSize: number;
  readonly #maxSeats: number;
  readonly #rules: EngineRules;
  /** Null under rules by which a preempted request starts over. */
  readonly kept: KeptOutput | null;
  readonly #head: HeadKeys;
  /** Rows that lost their seat at some time: they look up blocks that no other request does. */
  readonly #preempted = new Set<number>();
  /** The request that did not fit, and the memory it needed. */
  #blockedRow = -1;
  #blockedBudget = 0;
  #blockedChanges = 0;

  constructor(
    config: ReplicaModelConfig,
    plan: StepPlan,
    batch: RunningBatch,
    queue: WaitQueue,
    kv: KvCache,
    requests: ReplicaRequests,
    gaps: TokenGaps,
  ) {
    this.#plan = plan;
    this.#batch = batch;
    this.#queue = queue;
    this.#kv = kv;
    this.#requests = requests;
    this.#blockSize = config.blockSize;
    this.#maxSeats = config.maxNumSeqs;
    this.#rules = engineRules(config.engineRules);
    this.kept = this.#rules.keepsOutput ? new KeptOutput(batch, gaps, requests, config.blockSize) : null;
    this.#head = new HeadKeys(requests, config.blockSize, this.kept);
  }

  /**
   * Seats requests while seats, budget and memory last. The scheduling delay of a request that starts over after a preemption
   * ends with its last seat.
   */
  admit(nowUs: number): void {
    const batch = this.#batch;
    const plan = this.#plan;
    const { table, outcomes } = this.#requests;
    while (!this.admitsNone()) {
      const row = this.#queue.head();
      const input = table.inputTokens[row]! + (this.kept === null ? 0 : this.kept.produced(row));
      this.#head.load(row, this.#preempted.has(row));
      const { keys, count: keyCount } = this.#head;
      const promptBlocks = ((this.#rules.computesLastBlock ? input - 1 : input) / this.#blockSize) | 0;
      const cached = this.#kv.find(keys, Math.min(keyCount, promptBlocks));
      const start = cached * this.#blockSize;
      const tokens = plan.chunk(input - start);
      const slot = batch.freeSlot();
      const ahead = input === 0 ? 1 : 0;
      if (!this.#kv.allocatePrompt(slot, keys, ahead === 1 ? 0 : keyCount, start, tokens + ahead, cached)) {
        this.#blockedRow = row;
        this.#blockedBudget = plan.budget;
        this.#blockedChanges = this.#kv.changes;
        return;
      }
      this.#queue.shift();
      batch.seatAtTail(slot);
      batch.row[slot] = row;
      batch.input[slot] = input;
      batch.computed[slot] = start + tokens;
      batch.ahead[slot] = ahead;
      // A full hit claims no block, so the blocks its output fills do not continue the cached chain.
      batch.keyCount[slot] = tokens === 0 ? 0 : keyCount;
      batch.fullHit[slot] = tokens === 0 ? 1 : 0;
      batch.keys[slot] = this.#head.handOver(batch.keys[slot]);
      plan.prefilling.push(slot);
      // Its progress is still 0 when the step is timed: what came from the cache counts from the next chunk on.
      if (tokens > 0) addPrefill(plan.shape, input, 0, tokens, start);
      plan.budget -= tokens;
      const isFirstSeat = Number.isNaN(outcomes.schedulingDelayUs[row]!);
      if (isFirstSeat) {
        this.promptTokens += input;
        this.cachedPromptTokens += start;
        if (this.#requests.cachedTokens !== undefined) this.#requests.cachedTokens[row] = start;
      }
      if (isFirstSeat || this.kept === null) outcomes.schedulingDelayUs[row] = nowUs - table.arrivalUs[row]!;
      outcomes.status[row] = STATUS.running;
    }
  }

  /**
   * Whether it is known without trying that no waiting request gets a seat with the plan's budget. One that did not fit
   * need not be tried again while blocks have only been taken since.
   */
  admitsNone(): boolean {
    return (
      this.isClosed() ||
      (this.#plan.budget === this.#blockedBudget &&
        this.#kv.changes === this.#blockedChanges &&
        this.#queue.head() === this.#blockedRow)
    );
  }

  /** Whether no request gets a seat whatever the memory: none waits, or there is no seat or no budget left. */
  isClosed(): boolean {
    return this.#queue.length === 0 || this.#plan.budget <= 0 || this.#batch.size >= this.#maxSeats;
  }

  /** A slot is about to lose its seat, with `computed` tokens of its prompt done. Its request goes back to the queue. */
  giveUp(slot: number, computed: number, nowUs: number): void {
    const row = this.#batch.row[slot]!;
    const { kept } = this;
    if (kept !== null) {
      kept.keep(slot, nowUs);
      const stored = this.#batch.decodes[slot] === 1 ? this.#batch.progress(slot) : computed;
      this.#keepForReturn(slot, row, stored);
      this.#preempted.add(row);
    } else if (!this.#preempted.has(row)) {
      this.#preempted.add(row);
      if (this.#batch.fullHit[slot] === 0) this.#keepForReturn(slot, row, computed);
    }
    this.#head.forget(row);
    this.#requests.outcomes.status[row] = STATUS.queued;
    this.#queue.pushFront(row);
  }

  /** The request will not come back; its row may be another's from now on. */
  gone(row: number): void {
    this.#preempted.delete(row);
    this.kept?.forget(row);
    this.#head.forget(row);
    if (this.#blockedRow === row) this.#blockedRow = -1;
  }

  /** Until now only shared blocks had keys; what is computed of the rest may be found when the request comes back. */
  #keepForReturn(slot: number, row: number, computed: number): void {
    const batch = this.#batch;
    const done = (computed / this.#blockSize) | 0;
    const known = batch.keyCount[slot]!;
    if (known >= done) return;
    if (batch.keys[slot]!.length < done) batch.keys[slot] = new Int32Array(done * 2);
    if (this.kept === null || this.kept.produced(row) === 0) this.#requests.keys.fill(row, done, batch.keys[slot]!);
    else this.kept.fillKeys(row, done, batch.keys[slot]!);
    this.#kv.rememberRange(slot, batch.keys[slot]!, known, done);
  }
}
