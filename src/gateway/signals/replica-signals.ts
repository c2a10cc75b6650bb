/** What a replica said of itself, and when. A number that it did not say is NaN, never 0. */
export interface ReplicaSignals {
  /** When the response came, in the gateway's microseconds. */
  atUs: number;
  running: number;
  waiting: number;
  /** 0..1. */
  kvUsed: number;
  freeBlocks: number;
  /** Hits per looked-up token since the start; NaN before the first. */
  cacheHitRate: number;
  /** Names of signals that the engine should have given and did not. */
  missing: readonly string[];
}
