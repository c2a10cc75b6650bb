import type { RequestFeatures } from '../policy/request-features.js';
import type { Replica } from '../replica/replica.js';

/** The replicas' real prefix caches as the router sees them: live, or as they were at the last look that was due. */
export class CacheSignals {
  readonly #replicas: readonly Replica[];
  readonly #delayUs: number;
  #frozenUs = 0;

  constructor(replicas: readonly Replica[], delayUs: number) {
    this.#replicas = replicas;
    this.#delayUs = delayUs;
    if (delayUs > 0) for (const replica of replicas) replica.kv.trackFreezes();
  }

  look(nowUs: number): void {
    if (this.#delayUs === 0 || nowUs - this.#frozenUs < this.#delayUs) return;
    for (const replica of this.#replicas) replica.kv.freeze();
    this.#frozenUs = nowUs;
  }

  /** Fills in how many leading blocks of the request each replica holds. */
  lookUp(request: RequestFeatures): void {
    const shared = request.blockCount - request.soloBlocks;
    for (let i = 0; i < this.#replicas.length; i++) {
      const { kv } = this.#replicas[i]!;
      request.cachedBlocks[i] =
        this.#delayUs === 0 ? kv.cachedBlocks(request.blocks, shared) : kv.frozenBlocks(request.blocks, shared);
    }
  }
}
