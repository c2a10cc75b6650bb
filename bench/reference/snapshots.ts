import type { Instance } from './instance.js';
import type { ReferenceRequest } from './request.js';

/** What the router believes about one instance. Only `inFlight` is always fresh. */
export interface Snapshot {
  index: number;
  queueDepth: number;
  batchSize: number;
  kvUtilization: number;
  inFlight: number;
}

/** What one decision may look at. */
export interface RouterState {
  clockUs: number;
  /** In index order. */
  candidates: Snapshot[];
  /** Leading prompt blocks in an instance's cache, as old as the cache signal is. */
  cachedBlocks(request: ReferenceRequest, index: number): number;
}

export function effectiveLoad(snapshot: Snapshot): number {
  return snapshot.queueDepth + snapshot.batchSize + snapshot.inFlight;
}

/** The router's snapshot of the fleet. It is refreshed on read, once it is old enough. */
export class SnapshotBoard {
  readonly inFlight: number[];
  readonly #snapshots: Snapshot[];
  readonly #refreshedUs: number[];
  #frozenCaches: Map<number, number>[];
  #cachesFrozenUs = 0;

  constructor(
    readonly instances: readonly Instance[],
    readonly refreshUs: number,
    readonly cacheSignalDelayUs: number,
  ) {
    this.inFlight = instances.map(() => 0);
    this.#snapshots = instances.map(({ index }) => ({
      index,
      queueDepth: 0,
      batchSize: 0,
      kvUtilization: 0,
      inFlight: 0,
    }));
    this.#refreshedUs = instances.map(() => 0);
    this.#frozenCaches = instances.map(() => new Map());
  }

  /** `model` empty: every instance is a candidate. */
  look(clockUs: number, model: string): RouterState {
    if (this.cacheSignalDelayUs > 0 && clockUs - this.#cachesFrozenUs >= this.cacheSignalDelayUs) {
      this.#frozenCaches = this.instances.map((instance) => new Map(instance.kv.byChain));
      this.#cachesFrozenUs = clockUs;
    }
    const eligible = this.instances.filter((instance) => model === '' || instance.config.model === model);
    return {
      clockUs,
      candidates: eligible.map((instance) => this.#snapshot(instance, clockUs)),
      cachedBlocks: (request, index) => this.#cachedBlocks(request, index),
    };
  }

  /** Whether a later look, with nothing happening in between, would show the same. */
  isUpToDate(): boolean {
    if (this.refreshUs === 0) return true;
    return this.instances.every((instance) => this.#refreshedUs[instance.index]! >= instance.clockUs);
  }

  #snapshot(instance: Instance, clockUs: number): Snapshot {
    const snapshot = this.#snapshots[instance.index]!;
    if (clockUs - this.#refreshedUs[instance.index]! >= this.refreshUs) {
      snapshot.queueDepth = instance.waiting;
      snapshot.batchSize = instance.running;
      snapshot.kvUtilization = instance.utilization;
      this.#refreshedUs[instance.index] = clockUs;
    }
    return { ...snapshot, inFlight: this.inFlight[instance.index]! };
  }

  #cachedBlocks(request: ReferenceRequest, index: number): number {
    const cache = this.cacheSignalDelayUs > 0 ? this.#frozenCaches[index]! : this.instances[index]!.kv.byChain;
    let found = 0;
    while (found < request.promptChains.length && cache.has(request.promptChains[found]!)) found += 1;
    return found;
  }
}
