import { ROW_GROWS_CONTEXT } from '../workload/request-table.js';
import type { KvCache } from './kv-cache.js';
import { type BatchShape, emptyShape } from './latency/contract.js';
import type { PreemptionPolicy } from './preemption/contract.js';
import type { ReplicaConfig } from './replica-config.js';
import type { ReplicaRequests } from './replica-requests.js';
import { STATUS } from './request-outcomes.js';
import type { RunningBatch } from './running-batch.js';
import type { WaitQueue } from './wait-queue.js';

/**
 * Decides what one step computes: first the running requests in batch order, then waiting ones while there is budget.
 * Chunked prefill is always on. When KV memory runs out, running requests are preempted, and nobody new is admitted in
 * that step.
 *
 * Most steps are decode-only with memory to spare: those cost O(requests that need a new block). Everything else takes
 * the careful walk over the whole batch.
 */
export class BatchFormation {
  /** The step's sums, for the latency model. */
  readonly shape: BatchShape = emptyShape();
  /** Slots still working on their prompt, in batch order; those admitted in this step come last. */
  readonly prefilling: number[] = [];
  /** Decoding slots that get no token in this step. */
  readonly idle: number[] = [];
  /** Where admissions of this step start in the batch order. */
  admittedFrom = 0;
  preemptions = 0;
  /** Prompt tokens found in the cache / looked up, when a request got its first seat. */
  cachedPromptTokens = 0;
  promptTokens = 0;

  readonly #batch: RunningBatch;
  readonly #queue: WaitQueue;
  readonly #kv: KvCache;
  readonly #requests: ReplicaRequests;
  readonly #victims: PreemptionPolicy;
  readonly #blockSize: number;
  readonly #maxSeats: number;
  readonly #maxTokens: number;
  readonly #longPrefill: number;
  /** Keys of the request at the head of the queue: it may be tried in many steps before it fits. */
  #headRow = -1;
  #headKeys: Int32Array = new Int32Array(64);
  #budget = 0;

  constructor(
    config: ReplicaConfig,
    batch: RunningBatch,
    queue: WaitQueue,
    kv: KvCache,
    requests: ReplicaRequests,
    victims: PreemptionPolicy,
  ) {
    this.#batch = batch;
    this.#queue = queue;
    this.#kv = kv;
    this.#requests = requests;
    this.#victims = victims;
    this.#blockSize = config.blockSize;
    this.#maxSeats = config.maxNumSeqs;
    this.#maxTokens = config.maxNumBatchedTokens;
    this.#longPrefill = config.longPrefillTokenThreshold;
  }

  form(): void {
    const batch = this.#batch;
    this.#budget = this.#maxTokens;
    this.idle.length = 0;
    const before = this.preemptions;
    if (this.prefilling.length === 0 && batch.decoding <= this.#budget && batch.ringLength(0) <= this.#kv.pool.free) {
      this.#decodeAll();
    } else {
      this.#walk();
    }
    this.admittedFrom = batch.size;
    if (this.preemptions === before && this.#queue.length > 0) this.#admit();
  }

  /** Everybody decodes and every block that is needed is there. */
  #decodeAll(): void {
    const batch = this.#batch;
    const shape = this.shape;
    for (let slot = batch.ringFirst(0); slot >= 0; slot = batch.ringNext(slot)) this.#kv.appendBlock(slot);
    this.#rememberFilled();
    this.#budget -= batch.decoding;
    shape.scheduled = batch.decoding;
    shape.decodes = batch.decoding;
    shape.decodeContext = batch.baseSum + batch.decoding * batch.clock;
    shape.prefills = 0;
    shape.prefillTokens = 0;
    shape.prefillContext = 0;
    shape.prefillFullAttention = 0;
    shape.prefillCausalAttention = 0;
  }

  /** Blocks that this step's tokens complete become findable, for chats that come back with them. */
  #rememberFilled(): void {
    const batch = this.#batch;
    if (this.#blockSize === 1) return;
    for (let slot = batch.ringFirst(-1); slot >= 0; slot = batch.ringNext(slot)) this.#rememberIfShared(slot);
  }

  #rememberIfShared(slot: number): void {
    const block = (this.#batch.progress(slot) / this.#blockSize) | 0;
    if (block < this.#batch.keyCount[slot]!) this.#kv.rememberLast(slot, this.#batch.keys[slot]![block]!);
  }

  /** One request after the other, exactly. */
  #walk(): void {
    const batch = this.#batch;
    batch.newTokens.fill(0);
    let place = 0;
    while (place < batch.size && this.#budget > 0) {
      const slot = batch.order[place]!;
      const tokens = batch.decodes[slot] === 1 ? 1 : this.#chunk(batch.input[slot]! - batch.computed[slot]!);
      const seat = this.#seatAfterAllocation(place, slot, tokens);
      if (seat < 0) break;
      batch.newTokens[slot] = tokens;
      this.#budget -= tokens;
      place = seat + 1;
    }
    this.#sumUp();
  }

  /** Memory for a running slot's tokens, preempting others if need be. Its place in the batch, -1 when it lost its own seat. */
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
      const filled = batch.progress(slot) % this.#blockSize;
      if (filled === 0) return this.#kv.appendBlock(slot);
      if (filled === this.#blockSize - 1) this.#rememberIfShared(slot);
      return true;
    }
    return this.#kv.allocatePrompt(slot, batch.keys[slot]!, batch.keyCount[slot]!, batch.computed[slot]!, tokens, 0);
  }

  #preempt(place: number): void {
    const batch = this.#batch;
    const slot = batch.order[place]!;
    this.#budget += batch.newTokens[slot]!;
    batch.newTokens[slot] = 0;
    const row = batch.row[slot]!;
    this.forget(slot);
    batch.unseat(place);
    this.#requests.outcomes.status[row] = STATUS.queued;
    this.#queue.pushFront(row);
    this.preemptions++;
  }

  /** A slot leaves before its request is done: its memory comes back. The caller unseats it. */
  forget(slot: number): void {
    this.#kv.release(slot);
    const at = this.prefilling.indexOf(slot);
    if (at >= 0) this.prefilling.splice(at, 1);
  }

  #sumUp(): void {
    const batch = this.#batch;
    const shape = this.shape;
    const { newTokens } = batch;
    shape.scheduled = 0;
    shape.decodes = 0;
    shape.decodeContext = 0;
    shape.prefills = 0;
    shape.prefillTokens = 0;
    shape.prefillContext = 0;
    shape.prefillFullAttention = 0;
    shape.prefillCausalAttention = 0;
    for (let place = 0; place < batch.size; place++) {
      const slot = batch.order[place]!;
      const tokens = newTokens[slot]!;
      if (batch.decodes[slot] === 0) {
        if (tokens > 0) this.#addPrefill(batch.input[slot]!, batch.computed[slot]!, tokens);
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

  #addPrefill(input: number, done: number, tokens: number): void {
    const shape = this.shape;
    shape.scheduled++;
    shape.prefills++;
    shape.prefillTokens += tokens;
    shape.prefillContext += done;
    shape.prefillFullAttention += tokens * (input + tokens / 2);
    shape.prefillCausalAttention += tokens * (done + (tokens - 1) / 2);
  }

  /** Waiting requests get seats, head of the queue only, while seats, budget and memory last. */
  #admit(): void {
    const batch = this.#batch;
    const { table, outcomes } = this.#requests;
    while (batch.size < this.#maxSeats && this.#budget > 0) {
      const row = this.#queue.head();
      if (row < 0) return;
      const input = table.inputTokens[row]!;
      const promptBlocks = (input / this.#blockSize) | 0;
      const keyCount = this.#loadHeadKeys(row, promptBlocks);
      const cached = this.#kv.cachedBlocks(this.#headKeys, promptBlocks);
      const start = cached * this.#blockSize;
      const tokens = this.#chunk(input - start);
      const slot = batch.freeSlot();
      if (!this.#kv.allocatePrompt(slot, this.#headKeys, promptBlocks, start, tokens, cached)) {
        batch.returnSlot(slot);
        return;
      }
      this.#queue.shift();
      batch.seatAtTail(slot);
      batch.row[slot] = row;
      batch.input[slot] = input;
      batch.computed[slot] = start + tokens;
      batch.newTokens[slot] = tokens;
      // A full hit claims no block, so the blocks its output fills do not continue the cached chain.
      batch.keyCount[slot] = tokens === 0 ? 0 : keyCount;
      const spare = batch.keys[slot];
      batch.keys[slot] = this.#headKeys;
      this.#headKeys = spare ?? new Int32Array(64);
      this.#headRow = -1;
      this.prefilling.push(slot);
      // Its progress is still 0 when the step is timed: what came from the cache counts from the next chunk on.
      if (tokens > 0) this.#addPrefill(input, 0, tokens);
      this.#budget -= tokens;
      if (Number.isNaN(outcomes.schedulingDelayUs[row]!)) {
        this.promptTokens += input;
        this.cachedPromptTokens += start;
      }
      outcomes.status[row] = STATUS.running;
    }
  }

  /** Fills `#headKeys`; how many of the request's blocks may ever be found again. */
  #loadHeadKeys(row: number, promptBlocks: number): number {
    const { table, keys } = this.#requests;
    let count = promptBlocks;
    if ((table.flags[row]! & ROW_GROWS_CONTEXT) !== 0) {
      // The next turn repeats everything but the last output token.
      const shared = table.inputTokens[row]! + Math.max(0, table.outputTokens[row]! - 1);
      count = (shared / this.#blockSize) | 0;
    }
    if (this.#headRow === row) return count;
    if (this.#headKeys.length < count) this.#headKeys = new Int32Array(count * 2);
    keys.fill(row, count, this.#headKeys);
    this.#headRow = row;
    return count;
  }

  #chunk(left: number): number {
    const long = this.#longPrefill > 0 && this.#longPrefill < left ? this.#longPrefill : left;
    return long < this.#budget ? long : this.#budget;
  }
}
