import type { RunningBatch } from '../batch/running-batch.js';
import type { TokenGaps } from '../batch/token-gaps.js';
import type { KvCache } from '../kv/kv-cache.js';
import type { LatencyModel } from '../latency/contract.js';
import type { BatchFormation } from './batch-formation.js';

/**
 * Most steps repeat the one before: the same requests decode one more token each. This runs such steps one after the
 * other without forming a batch for each, and stops before the first one in which anything else happens: a request that
 * is done, a missing block, a waiting request that may fit again.
 */
export class DecodeRun {
  /** Steps of the last `run`. */
  steps = 0;
  /** Start of the last of them. */
  lastUs = 0;
  readonly #batch: RunningBatch;
  readonly #kv: KvCache;
  readonly #formation: BatchFormation;
  readonly #gaps: TokenGaps;
  readonly #latency: LatencyModel;
  readonly #blockSize: number;

  constructor(
    batch: RunningBatch,
    kv: KvCache,
    formation: BatchFormation,
    gaps: TokenGaps,
    latency: LatencyModel,
    blockSize: number,
  ) {
    this.#batch = batch;
    this.#kv = kv;
    this.#formation = formation;
    this.#gaps = gaps;
    this.#latency = latency;
    this.#blockSize = blockSize;
  }

  /** Runs steps from `atUs` on that start before `stopUs`; when the next step is due. The formation must be steady. */
  run(atUs: number, stopUs: number): number {
    const batch = this.#batch;
    const kv = this.#kv;
    const formation = this.#formation;
    const { shape } = formation;
    const { changes } = kv;
    const readsContexts = this.#latency.readsContexts === true;
    formation.shapeOfDecodes();
    if (readsContexts) formation.readContexts();
    let at = atUs;
    let steps = 0;
    // Slots whose next token starts a block: nearly always none.
    let ring = batch.ringAt(0);
    while (
      at < stopUs &&
      (kv.changes === changes || formation.seating.admitsNone()) &&
      !batch.mayFinishNext() &&
      batch.sizeOfRing(ring) <= kv.pool.free
    ) {
      formation.appendBlocks(ring);
      if (readsContexts) shape.heldTokens = kv.pool.used * this.#blockSize;
      ring = batch.ringBefore(ring);
      const duration = this.#latency.stepUs(shape, at);
      this.#gaps.record(duration);
      shape.decodeContext += shape.decodes;
      if (readsContexts) shape.decodeLongest++;
      batch.clock++;
      this.lastUs = at;
      at += duration;
      steps++;
    }
    this.steps = steps;
    return at;
  }
}
