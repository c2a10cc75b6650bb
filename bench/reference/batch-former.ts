import type { ReplicaModelConfig } from '../../src/replica/replica-model-config.js';
import type { KvCache } from './kv-cache.js';
import { type ReferenceRequest, workOf } from './request.js';
import { victimOf } from './schedulers.js';

/** Decides what one step computes: tokens for the running requests first, then as many waiting ones as fit. */
export class BatchFormer {
  readonly admitted: ReferenceRequest[] = [];
  preemptions = 0;
  #budget: number;
  /** The running request whose turn it is; moves back when one before it is pushed out. */
  #turn = 0;

  constructor(
    readonly config: ReplicaModelConfig,
    readonly kv: KvCache,
    readonly batch: ReferenceRequest[],
    readonly queue: ReferenceRequest[],
  ) {
    this.#budget = config.maxNumBatchedTokens;
  }

  form(): void {
    for (const request of this.batch) request.newTokens = 0;
    this.#serveRunning();
    if (this.preemptions === 0) this.#admitWaiting();
  }

  #serveRunning(): void {
    while (this.#turn < this.batch.length && this.#budget > 0) {
      const request = this.batch[this.#turn]!;
      const tokens = this.#tokensFor(request);
      if (tokens > 0) {
        if (!this.#allocateOrPreempt(request, tokens)) return;
        this.#budget -= tokens;
        request.newTokens = tokens;
        request.computed += tokens;
      }
      this.#turn += 1;
    }
  }

  #tokensFor(request: ReferenceRequest): number {
    if (request.progress < workOf(request).length) return this.#chunk(request, request.progress);
    if (request.response.length === 0) return 0;
    const { maxModelLen } = this.config;
    return maxModelLen > 0 && request.progress + 1 > maxModelLen - 1 ? 0 : 1;
  }

  #chunk(request: ReferenceRequest, start: number): number {
    const { longPrefillTokenThreshold, maxModelLen } = this.config;
    let tokens = workOf(request).length - start;
    if (longPrefillTokenThreshold > 0) tokens = Math.min(tokens, longPrefillTokenThreshold);
    tokens = Math.min(tokens, this.#budget);
    if (maxModelLen > 0) tokens = Math.min(tokens, Math.max(0, maxModelLen - 1 - start));
    return tokens;
  }

  /** False when the request itself had to go. */
  #allocateOrPreempt(request: ReferenceRequest, tokens: number): boolean {
    while (!this.kv.allocate(request, request.progress, request.progress + tokens)) {
      const victim = victimOf(this.config.preemptionPolicy, this.batch);
      this.#preempt(victim);
      if (victim === request) return false;
    }
    return true;
  }

  /**
   * Back to the front of the queue as if nothing had happened; only a reported TTFT stays until it is overwritten. By other
   * rules the tokens stay, and are computed again with the prompt.
   */
  #preempt(victim: ReferenceRequest): void {
    const place = this.batch.indexOf(victim);
    this.batch.splice(place, 1);
    if (place < this.#turn) this.#turn -= 1;
    this.preemptions += 1;
    this.#budget += victim.newTokens;
    victim.newTokens = 0;
    if (this.kv.rules.keepsOutput) {
      victim.kept = Math.max(victim.kept, victim.tokenGapsUs.length + (victim.hasFirstToken ? 1 : 0));
    } else {
      victim.tokenGapsUs = [];
      victim.hasFirstToken = false;
    }
    victim.progress = 0;
    victim.computed = 0;
    victim.status = 'queued';
    this.kv.release(victim);
    this.queue.unshift(victim);
  }

  /** Strictly from the head: one that does not fit holds up those behind it. */
  #admitWaiting(): void {
    while (this.queue.length > 0 && this.batch.length < this.config.maxNumSeqs && this.#budget > 0) {
      const request = this.queue[0]!;
      const cached = this.kv.cachedBlocks(request);
      const start = cached.length * this.kv.blockSize;
      const tokens = this.#chunk(request, start);
      if (!this.kv.allocate(request, start, start + tokens, cached)) return;
      this.queue.shift();
      this.batch.push(request);
      this.admitted.push(request);
      this.#budget -= tokens;
      request.status = 'running';
      request.newTokens = tokens;
      request.computed = start + tokens;
    }
  }
}
