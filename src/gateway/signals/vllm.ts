import { type Engine, firstOf } from './engine.js';

/** vLLM. KV usage had another name before version 0.10; block counts stand in the labels of `cache_config_info`. */
export const vllm: Engine = {
  name: 'vllm',
  summary: 'vLLM, and the emulated engine',
  gives: ['running', 'waiting', 'kvUsed'],
  tellsLoad: true,
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
