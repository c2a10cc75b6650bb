import type { RunningBatch } from '../batch/running-batch.js';
import type { TokenGaps } from '../batch/token-gaps.js';
import type { WaitQueue } from '../batch/wait-queue.js';
import type { KvCache } from '../kv/kv-cache.js';
import { addPrefill, resetShape } from '../latency/batch-shape.js';
import type { BatchShape } from '../latency/contract.js';
import type { PreemptionPolicy } from '../preemption/contract.js';
import type { ReplicaModelConfig } from '../replica-model-config.js';
import type { ReplicaRequests } from '../replica-requests.js';
import { Seating } from './seating.js';
import { StepPlan } from './step-plan.js';

/**
 * Decides what one step computes: first the running requests in batch order, then waiting ones while there is budget.
 * Chunked prefill is always on. When KV memory runs out, running requests are preempted, and no request is admitted in
 * that step.
 *
 * Most steps are decode-only with memory to spare: those cost O(requests that need a new block). Everything else takes
 * the careful walk over the whole batch.
 */
export class BatchFormation {
  readonly seating: Seating;
  readonly shape: BatchShape;
  readonly prefilling: number[];
  readonly idle: number[];
  preemptions = 0;

  readonly #plan: StepPlan;
  readonly #batch: RunningBatch;
  readonly #kv: KvCache;
  readonly #requests: ReplicaRequests;
  readonly #victims: PreemptionPolicy;
  readonly #blockSize: number;
  readonly #maxTokens: number;
  readonly #readsContexts: boolean;
  #nowUs = 0;

  constructor(
    config: ReplicaModelConfig,
    batch: RunningBatch,
    queue: WaitQueue,
    kv: KvCache,
    requests: ReplicaRequests,
    victims: PreemptionPolicy,
    gaps: TokenGaps,
    readsContexts: boolean,
  ) {
    this.#batch = batch;
    this.#kv = kv;
    this.#requests = requests;
    this.#victims = victims;
    this.#blockSize = config.blockSize;
    this.#maxTokens = config.maxNumBatchedTokens;
    this.#plan = new StepPlan(config.longPrefillTokenThreshold);
    this.#readsContexts = readsContexts;
    this.seating = new Seating(config, this.#plan, batch, queue, kv, requests, gaps);
    this.shape = this.#plan.shape;
    this.prefilling = this.#plan.prefilling;
    this.idle = this.#plan.idle;
  }

  /** Puts together the step that starts now. */
  form(nowUs: number): void {
    const batch = this.#batch;
    this.#nowUs = nowUs;
    this.#plan.budget = this.#maxTokens;
    if (this.idle.length > 0) this.idle.length = 0;
    const before = this.preemptions;
    const inOrder = this.#promptsComeLast() && batch.decoding <= this.#plan.budget;
    if (inOrder && this.#memoryLasts()) {
      this.#decodeAll();
      this.#continuePrompts();
    } else if (inOrder && this.#victims.takesLast && batch.keyedDecoding === 0) {
      this.#squeeze();
    } else {
      this.#walk();
    }
    if (this.preemptions === before) this.seating.admit(nowUs);
    if (this.#readsContexts) this.readContexts();
  }

  /** Whether the next step only decodes and admits no request, provided that memory lasts and no request ends. */
  isSteady(): boolean {
    const batch = this.#batch;
    this.#plan.budget = this.#maxTokens - batch.decoding;
    if (this.prefilling.length > 0 || batch.decoding === 0 || this.#plan.budget < 0) return false;
    // Blocks that are remembered in a step may let a waiting request in, in that very step.
    return batch.keyedDecoding > 0 ? this.seating.isClosed() : this.seating.admitsNone();
  }

  /** Sums of a decode-only step. */
  shapeOfDecodes(): void {
    const batch = this.#batch;
    resetShape(this.shape, batch.decoding, batch.baseSum + batch.decoding * batch.clock);
  }

  /** The part of the shape about single contexts, for a latency model that needs it. */
  readContexts(): void {
    this.shape.decodeLongest = this.#batch.longestContext();
    this.shape.heldTokens = this.#kv.pool.used * this.#blockSize;
  }

  #promptsComeLast(): boolean {
    const { prefilling } = this;
    return prefilling.length === 0 || this.#batch.order[this.#batch.size - prefilling.length] === prefilling[0];
  }

  /**
   * Whether there are blocks for all requests: then the order of the batch does not matter, except that prompts come
   * last.
   */
  #memoryLasts(): boolean {
    const batch = this.#batch;
    const { prefilling } = this;
    let blocks = batch.sizeOfRing(batch.ringAt(0));
    if (prefilling.length > 0) {
      const full = this.#plan.budget;
      this.#plan.budget -= batch.decoding;
      for (let i = 0; i < prefilling.length && this.#plan.budget > 0; i++) {
        const done = batch.computed[prefilling[i]!]!;
        const tokens = this.#plan.chunk(batch.input[prefilling[i]!]! - done);
        blocks += this.#kv.blocksNeeded(done, tokens);
        this.#plan.budget -= tokens;
      }
      this.#plan.budget = full;
    }
    return blocks <= this.#kv.pool.free;
  }

  #continuePrompts(): void {
    const batch = this.#batch;
    const { prefilling } = this;
    for (let i = 0; i < prefilling.length && this.#plan.budget > 0; i++) {
      const slot = prefilling[i]!;
      const done = batch.computed[slot]!;
      const tokens = this.#plan.chunk(batch.input[slot]! - done);
      this.#kv.allocatePrompt(slot, batch.keys[slot]!, batch.keyCount[slot]!, done, tokens, 0);
      addPrefill(this.shape, batch.input[slot]!, done, tokens, done);
      batch.computed[slot] = done + tokens;
      this.#plan.budget -= tokens;
    }
  }

  /**
   * Memory is short and the last of the batch are preempted: as the careful walk does, visiting only slots that need a
   * block.
   */
  #squeeze(): void {
    const batch = this.#batch;
    const { prefilling } = this;
    batch.newTokens.fill(0);
    for (let slot = batch.firstOfRing(batch.ringAt(0)); slot >= 0; slot = batch.ringNext(slot)) {
      if (!this.#squeezeIn(slot, 1)) break;
    }
    this.#plan.budget -= batch.decoding;
    this.shapeOfDecodes();
    for (let i = 0; i < prefilling.length && this.#plan.budget > 0; i++) {
      const slot = prefilling[i]!;
      const done = batch.computed[slot]!;
      const tokens = this.#plan.chunk(batch.input[slot]! - done);
      if (!this.#squeezeIn(slot, tokens)) return;
      addPrefill(this.shape, batch.input[slot]!, done, tokens, done);
      batch.computed[slot] = done + tokens;
      this.#plan.budget -= tokens;
    }
  }

  /** Whether the slot got memory for its tokens; otherwise it was the last one left and lost its seat. */
  #squeezeIn(slot: number, tokens: number): boolean {
    const batch = this.#batch;
    while (!this.#allocateRunning(slot, tokens)) {
      const isLast = batch.order[batch.size - 1] === slot;
      this.#preempt(batch.size - 1);
      if (isLast) return false;
    }
    return true;
  }

  /** A decode-only step with all the blocks it needs. */
  #decodeAll(): void {
    this.appendBlocks(this.#batch.ringAt(0));
    this.#plan.budget -= this.#batch.decoding;
    this.shapeOfDecodes();
  }

  /** Blocks for the decoding slots of this ring: those that need one, where all can have one. */
  appendBlocks(ring: number): void {
    const batch = this.#batch;
    if (batch.keyedDecoding > 0 && this.#blockSize > 1) this.#appendAndRemember();
    else for (let slot = batch.firstOfRing(ring); slot >= 0; slot = batch.ringNext(slot)) this.#kv.appendBlock(slot);
  }

  /**
   * Some slots need a block; others complete one with this step's token, which later turns of its session can find.
   * In batch order, since a block that is taken may hold an older copy of what is remembered.
   */
  #appendAndRemember(): void {
    const batch = this.#batch;
    let needy = batch.firstOfRing(batch.ringAt(0));
    let full = batch.firstOfRing(batch.ringAt(-1));
    while (needy >= 0 || full >= 0) {
      if (full < 0 || (needy >= 0 && batch.seat[needy]! < batch.seat[full]!)) {
        this.#kv.appendBlock(needy);
        needy = batch.ringNext(needy);
      } else {
        this.#rememberIfShared(full);
        full = batch.ringNext(full);
      }
    }
  }

  #rememberIfShared(slot: number): void {
    const block = (this.#batch.stored(slot) / this.#blockSize) | 0;
    if (block < this.#batch.keyCount[slot]!) this.#kv.rememberLast(slot, this.#batch.keys[slot]![block]!);
  }

  /** One request after the other, exactly. */
  #walk(): void {
    const batch = this.#batch;
    batch.newTokens.fill(0);
    let place = 0;
    while (place < batch.size && this.#plan.budget > 0) {
      const slot = batch.order[place]!;
      const tokens = batch.decodes[slot] === 1 ? 1 : this.#plan.chunk(batch.input[slot]! - batch.computed[slot]!);
      const seat = this.#seatAfterAllocation(place, slot, tokens);
      if (seat < 0) break;
      batch.newTokens[slot] = tokens;
      this.#plan.budget -= tokens;
      place = seat + 1;
    }
    this.#sumUp();
  }

  /**
   * Memory for a running slot's tokens, preempting others if need be. Its place in the batch, -1 when it lost its own
   * seat.
   */
  #seatAfterAllocation(start: number, slot: number, tokens: number): number {
    let place = start;
    while (!this.#allocateRunning(slot, tokens)) {
      const victim = this.#victims.victim(this.#batch, this.#requests);
      this.#preempt(victim);
      if (victim === place) return -1;
      if (victim < place) place--;
    }
    return place;
  }

  #allocateRunning(slot: number, tokens: number): boolean {
    const batch = this.#batch;
    if (batch.decodes[slot] === 1) {
      const filled = batch.stored(slot) % this.#blockSize;
      if (filled === 0) return this.#kv.appendBlock(slot);
      if (filled === this.#blockSize - 1) this.#rememberIfShared(slot);
      return true;
    }
    return this.#kv.allocatePrompt(slot, batch.keys[slot]!, batch.keyCount[slot]!, batch.computed[slot]!, tokens, 0);
  }

  #preempt(place: number): void {
    const batch = this.#batch;
    const slot = batch.order[place]!;
    const tokens = batch.newTokens[slot]!;
    this.seating.giveUp(slot, batch.computed[slot]! + (batch.decodes[slot] === 1 ? 0 : tokens), this.#nowUs);
    this.#plan.budget += tokens;
    this.unseat(place);
    this.preemptions++;
  }

  /** The slot at a place of the batch leaves before its request is done, and its memory is freed. */
  unseat(place: number): void {
    const slot = this.#batch.order[place]!;
    this.#kv.release(slot);
    const at = this.prefilling.indexOf(slot);
    if (at >= 0) this.prefilling.splice(at, 1);
    this.#batch.unseat(place);
  }

  #sumUp(): void {
    const batch = this.#batch;
    const shape = this.shape;
    const { newTokens } = batch;
    resetShape(shape, 0, 0);
    for (let place = 0; place < batch.size; place++) {
      const slot = batch.order[place]!;
      const tokens = newTokens[slot]!;
      if (batch.decodes[slot] === 0) {
        const done = batch.computed[slot]!;
        if (tokens > 0) addPrefill(this.shape, batch.input[slot]!, done, tokens, done);
        batch.computed[slot]! += tokens;
      } else if (tokens > 0) {
        shape.scheduled++;
        shape.decodes++;
        shape.decodeContext += batch.progress(slot);
      } else {
        this.idle.push(slot);
      }
    }
  }
}
