import type { EngineSample, SignalsSample } from '../engine.contract.js';
import { flags } from './flags.fixture.js';

const MODEL = 'model_name="m"';

export const vllmMetrics: SignalsSample = {
  metrics: `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",${MODEL}} 3.0
vllm:num_requests_waiting{engine="0",${MODEL}} 2.0
vllm:kv_cache_usage_perc{engine="0",${MODEL}} 0.25
vllm:cache_config_info{block_size="16",num_gpu_blocks="1000"} 1.0
vllm:prefix_cache_queries_total{engine="0"} 400.0
vllm:prefix_cache_hits_total{engine="0"} 100.0
vllm:time_to_first_token_seconds_bucket{le="+Inf",${MODEL}} 5.0`,
  report: { running: 3, waiting: 2, kvUsed: 0.25, freeBlocks: 750, cacheHitRate: 0.25 },
};

export const sample: EngineSample = {
  version: { document: { version: '0.10.2' }, is: '0.10.2' },
  signals: vllmMetrics,
  command: 'vllm serve /models/tiny --host 127.0.0.1 --port {{port}} --served-model-name tiny',
  flags,
};
