import type { EngineSample } from '../engine.contract.js';

export const sample: EngineSample = {
  version: { document: { model_id: 'tiny', version: '3.3.4' }, is: '3.3.4' },
  signals: {
    metrics: 'tgi_batch_current_size 7\ntgi_queue_size 9',
    report: { running: 7, waiting: 9, kvUsed: Number.NaN, freeBlocks: Number.NaN, cacheHitRate: Number.NaN },
  },
};
