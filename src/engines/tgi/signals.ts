import type { EngineSignals } from '../signals.js';

/** It does not report the state of its KV cache. */
export const tgiSignals: EngineSignals = {
  gives: ['running', 'waiting'],
  read(samples) {
    return {
      running: samples.sum('tgi_batch_current_size'),
      waiting: samples.sum('tgi_queue_size'),
      kvUsed: Number.NaN,
      freeBlocks: Number.NaN,
      cacheHitRate: Number.NaN,
    };
  },
};
