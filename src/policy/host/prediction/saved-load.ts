import type { PredictedLoad } from '../../latency-predictor.js';

/** Numbers of a load. */
export const LOAD_NUMBERS = 7;

export function newLoad(): PredictedLoad {
  return {
    decoding: 0,
    decodeTokens: 0,
    prefilling: 0,
    pendingPrefillTokens: 0,
    prefillElapsedUs: 0,
    kvUsed: 0,
    decodeUs: 0,
  };
}

/** Writes a load as numbers from an index on. */
export function saveLoad(load: PredictedLoad, to: Float64Array, at: number): void {
  to[at] = load.decoding;
  to[at + 1] = load.decodeTokens;
  to[at + 2] = load.prefilling;
  to[at + 3] = load.pendingPrefillTokens;
  to[at + 4] = load.prefillElapsedUs;
  to[at + 5] = load.kvUsed;
  to[at + 6] = load.decodeUs;
}

export function readLoad(from: Float64Array, at: number, load: PredictedLoad): void {
  load.decoding = from[at]!;
  load.decodeTokens = from[at + 1]!;
  load.prefilling = from[at + 2]!;
  load.pendingPrefillTokens = from[at + 3]!;
  load.prefillElapsedUs = from[at + 4]!;
  load.kvUsed = from[at + 5]!;
  load.decodeUs = from[at + 6]!;
}
