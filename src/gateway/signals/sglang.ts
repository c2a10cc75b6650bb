import type { Engine } from './engine.js';

export const sglang: Engine = {
  name: 'sglang',
  summary: 'SGLang, with its metrics enabled',
  gives: ['running', 'waiting', 'kvUsed'],
  read(samples) {
    const kvUsed = samples.mean('sglang:token_usage');
    return {
      running: samples.sum('sglang:num_running_reqs'),
      waiting: samples.sum('sglang:num_queue_reqs'),
      kvUsed,
      freeBlocks: Math.round(samples.sum('sglang:num_pages') * (1 - kvUsed)),
      cacheHitRate: samples.mean('sglang:cache_hit_rate'),
    };
  },
};
