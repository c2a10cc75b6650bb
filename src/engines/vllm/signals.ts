import { type EngineSignals, firstOf } from '../signals.js';

/** KV usage and prefix cache metrics had other names before version 0.10; the number of blocks is a label of an info metric. */
export const vllmSignals: EngineSignals = {
  gives: ['running', 'waiting', 'kvUsed'],
  read(samples) {
    const kvUsed = firstOf(samples.mean, 'vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc');
    const blocks = Number(samples.label('vllm:cache_config_info', 'num_gpu_blocks') ?? Number.NaN);
    const queries = firstOf(samples.sum, 'vllm:prefix_cache_queries_total', 'vllm:gpu_prefix_cache_queries_total');
    const hits = firstOf(samples.sum, 'vllm:prefix_cache_hits_total', 'vllm:gpu_prefix_cache_hits_total');
    return {
      running: samples.sum('vllm:num_requests_running'),
      waiting: samples.sum('vllm:num_requests_waiting'),
      kvUsed,
      freeBlocks: Math.round(blocks * (1 - kvUsed)),
      cacheHitRate: hits / queries,
    };
  },
};
