import type { Engine } from './engine.js';

/** Text Generation Inference says nothing of its KV cache. */
export const tgi: Engine = {
  name: 'tgi',
  summary: 'Text Generation Inference',
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
