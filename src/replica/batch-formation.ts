import { HeadKeys } from './head-keys.js';
import type { KvCache } from './kv-cache.js';
import { addPrefill, emptyShape, resetShape } from './latency/batch-shape.js';
import type { BatchShape } from './latency/contract.js';
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
  /** Rows that lost their seat at some time: they come back for blocks that nobody else would ask for. */
  readonly #preempted = new Set<number>();
  readonly #head: HeadKeys;
  #budget = 0;
  #blockedRow = -1;
  #blockedBudget = 0;
  #blockedChanges = 0;

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
    this.#head = new HeadKeys(requests, config.blockSize);
  }

  form(): void {
    const batch = this.#batch;
    this.#budget = this.#maxTokens;
    if (this.idle.length > 0) this.idle.length = 0;
    const before = this.preemptions;
    const inOrder = this.#promptsComeLast() && batch.decoding <= this.#budget;
    if (inOrder && this.#memoryLasts()) {
      this.#decodeAll();
      this.#continuePrompts();
    } else if (inOrder && this.#victims.takesLast && batch.keyedDecoding === 0) {
      this.#squeeze();
    } else {
      this.#walk();
    }
    this.admittedFrom = batch.size;
    if (this.preemptions === before && this.#queue.length > 0) this.#admit();
  }

  /** Whether the next step is one in which everybody decodes and nobody is admitted, if memory lasts and nobody is done. */
  isSteady(): boolean {
    const batch = this.#batch;
    this.#budget = this.#maxTokens - batch.decoding;
    if (this.prefilling.length > 0 || batch.decoding === 0 || batch.keyedDecoding > 0 || this.#budget < 0) return false;
    return (
      this.#queue.length === 0 ||
      this.#budget === 0 ||
      batch.size >= this.#maxSeats ||
      this.#isStillBlocked(this.#queue.head())
    );
  }

  /** Sums of a step in which everybody decodes. */
  shapeOfDecodes(): void {
    const batch = this.#batch;
    resetShape(this.shape, batch.decoding, batch.baseSum + batch.decoding * batch.clock);
  }

  #promptsComeLast(): boolean {
    const { prefilling } = this;
    return prefilling.length === 0 || this.#batch.order[this.#batch.size - prefilling.length] === prefilling[0];
  }

  /** Whether there are blocks for everybody: then the order of the batch does not matter, except that prompts come last. */
  #memoryLasts(): boolean {
    const batch = this.#batch;
    const { prefilling } = this;
    let blocks = batch.ringLength(0);
    if (prefilling.length > 0) {
      const full = this.#budget;
      this.#budget -= batch.decoding;
      for (let i = 0; i < prefilling.length && this.#budget > 0; i++) {
        const done = batch.computed[prefilling[i]!]!;
        const tokens = this.#chunk(batch.input[prefilling[i]!]! - done);
        blocks += this.#kv.blocksNeeded(done, tokens);
        this.#budget -= tokens;
      }
      this.#budget = full;
    }
    return blocks <= this.#kv.pool.free;
  }

  #continuePrompts(): void {
    const batch = this.#batch;
    const { prefilling } = this;
    for (let i = 0; i < prefilling.length && this.#budget > 0; i++) {
      const slot = prefilling[i]!;
      const done = batch.computed[slot]!;
      const tokens = this.#chunk(batch.input[slot]! - done);
      this.#kv.allocatePrompt(slot, batch.keys[slot]!, batch.keyCount[slot]!, done, tokens, 0);
      addPrefill(this.shape, batch.input[slot]!, done, tokens);
      batch.computed[slot] = done + tokens;
      this.#budget -= tokens;
    }
  }

  /** Memory is short and the last of the batch give way: what the careful walk does, visiting only those who need a block. */
  #squeeze(): void {
    const batch = this.#batch;
    const { prefilling } = this;
    batch.newTokens.fill(0);
    for (let slot = batch.ringFirst(0); slot >= 0; slot = batch.ringNext(slot)) {
      if (!this.#squeezeIn(slot, 1)) break;
    }
    this.#budget -= batch.decoding;
    this.shapeOfDecodes();
    for (let i = 0; i < prefilling.length && this.#budget > 0; i++) {
      const slot = prefilling[i]!;
      const done = batch.computed[slot]!;
      const tokens = this.#chunk(batch.input[slot]! - done);
      if (!this.#squeezeIn(slot, tokens)) return;
      addPrefill(this.shape, batch.input[slot]!, done, tokens);
      batch.computed[slot] = done + tokens;
      this.#budget -= tokens;
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

  /** Everybody decodes and every block that is needed is there. */
  #decodeAll(): void {
    const batch = this.#batch;
    if (batch.keyedDecoding > 0 && this.#blockSize > 1) this.#appendAndRemember();
    else for (let slot = batch.ringFirst(0); slot >= 0; slot = batch.ringNext(slot)) this.#kv.appendBlock(slot);
    this.#budget -= batch.decoding;
    this.shapeOfDecodes();
  }

  /**
   * Some slots need a block; others complete one with this step's token, and it becomes findable for chats that come back.
   * In batch order, since a block that is taken may hold an older copy of what is remembered.
   */
  #appendAndRemember(): void {
    const batch = this.#batch;
    let needy = batch.ringFirst(0);
    let full = batch.ringFirst(-1);
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
    const row = batch.row[slot]!;
    if (!this.#preempted.has(row)) this.#keepForReturn(slot, row);
    this.#budget += batch.newTokens[slot]!;
    this.forget(slot);
    batch.unseat(place);
    this.#head.forget(row);
    this.#requests.outcomes.status[row] = STATUS.queued;
    this.#queue.pushFront(row);
    this.preemptions++;
  }

  /** Until now only shared blocks had keys; what is computed of the rest may be found when the request comes back. */
  #keepForReturn(slot: number, row: number): void {
    const batch = this.#batch;
    this.#preempted.add(row);
    if (batch.keyCount[slot] === 0 && batch.fullHit[slot] === 1) return;
    const computed = batch.computed[slot]! + (batch.decodes[slot] === 1 ? 0 : batch.newTokens[slot]!);
    const done = (computed / this.#blockSize) | 0;
    const known = batch.keyCount[slot]!;
    if (known >= done) return;
    if (batch.keys[slot]!.length < done) batch.keys[slot] = new Int32Array(done * 2);
    this.#requests.keys.fill(row, done, batch.keys[slot]!);
    this.#kv.rememberRange(slot, batch.keys[slot]!, known, done);
  }

  /** A slot leaves before its request is done: its memory comes back. The caller unseats it. */
  forget(slot: number): void {
    this.#kv.release(slot);
    const at = this.prefilling.indexOf(slot);
    if (at >= 0) this.prefilling.splice(at, 1);
  }

  /** The request will not come back. */
  gone(row: number): void {
    this.#preempted.delete(row);
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
        if (tokens > 0) addPrefill(this.shape, batch.input[slot]!, batch.computed[slot]!, tokens);
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

  /** Waiting requests get seats, head of the queue only, while seats, budget and memory last. */
  #admit(): void {
    const batch = this.#batch;
    const { table, outcomes } = this.#requests;
    while (batch.size < this.#maxSeats && this.#budget > 0) {
      const row = this.#queue.head();
      if (row < 0 || this.#isStillBlocked(row)) return;
      const input = table.inputTokens[row]!;
      this.#head.load(row, this.#preempted.has(row));
      const { keys, count: keyCount } = this.#head;
      const promptBlocks = (input / this.#blockSize) | 0;
      const cached = this.#kv.find(keys, Math.min(keyCount, promptBlocks));
      const start = cached * this.#blockSize;
      const tokens = this.#chunk(input - start);
      const slot = batch.freeSlot();
      const ahead = input === 0 ? 1 : 0;
      if (!this.#kv.allocatePrompt(slot, keys, ahead === 1 ? 0 : keyCount, start, tokens + ahead, cached)) {
        this.#blocked(row);
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
      this.prefilling.push(slot);
      // Its progress is still 0 when the step is timed: what came from the cache counts from the next chunk on.
      if (tokens > 0) addPrefill(this.shape, input, 0, tokens);
      this.#budget -= tokens;
      if (Number.isNaN(outcomes.schedulingDelayUs[row]!)) {
        this.promptTokens += input;
        this.cachedPromptTokens += start;
      }
      outcomes.status[row] = STATUS.running;
    }
  }

  /** The head of the queue did not fit. */
  #blocked(row: number): void {
    this.#blockedRow = row;
    this.#blockedBudget = this.#budget;
    this.#blockedChanges = this.#kv.changes;
  }

  /** Since it did not fit, blocks were taken at most: it need not be tried again. */
  #isStillBlocked(row: number): boolean {
    return (
      row === this.#blockedRow && this.#kv.changes === this.#blockedChanges && this.#budget === this.#blockedBudget
    );
  }

  #chunk(left: number): number {
    const long = this.#longPrefill > 0 && this.#longPrefill < left ? this.#longPrefill : left;
    return Math.min(long, this.#budget);
  }
}
