import type { Replica } from '../replica/replica.js';

/** The replicas' real prefix caches as the router sees them: live, or as of the last refresh. */
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

  /** Writes how many of a prompt's leading blocks each replica holds. */
  lookUp(blocks: Int32Array, count: number, cached: Int32Array): void {
    for (let i = 0; i < this.#replicas.length; i++) {
      const { kv } = this.#replicas[i]!;
      cached[i] = this.#delayUs === 0 ? kv.cachedBlocks(blocks, count) : kv.frozenBlocks(blocks, count);
    }
  }
}
