import type { EngineSignals } from '../signals.js';

/** With priority scheduling, counts are reported per priority as well; the total is the sample whose priority is empty. */
export const sglangSignals: EngineSignals = {
  gives: ['running', 'waiting', 'kvUsed'],
  read(samples) {
    const kvUsed = samples.mean('sglang:token_usage');
    return {
      running: samples.sumWithout('priority', 'sglang:num_running_reqs'),
      waiting: samples.sumWithout('priority', 'sglang:num_queue_reqs'),
      kvUsed,
      freeBlocks: Math.round(samples.sum('sglang:num_pages') * (1 - kvUsed)),
      cacheHitRate: samples.mean('sglang:cache_hit_rate'),
    };
  },
};
