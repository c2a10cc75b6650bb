import type { EngineSample } from '../engine.contract.js';

export const sample: EngineSample = {
  signals: {
    metrics: 'tgi_batch_current_size 7\ntgi_queue_size 9',
    report: { running: 7, waiting: 9, kvUsed: Number.NaN, freeBlocks: Number.NaN, cacheHitRate: Number.NaN },
  },
};
