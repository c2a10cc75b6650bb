import type { EngineSample } from '../engine.contract.js';
import { flags } from './flags.fixture.js';

const MODEL = 'model_name="m",priority=""';

export const sample: EngineSample = {
  version: { document: { model_path: '/models/tiny', version: '0.5.3' }, is: '0.5.3' },
  signals: {
    metrics: `sglang:num_running_reqs{${MODEL}} 4
sglang:num_queue_reqs{${MODEL}} 1
sglang:token_usage{${MODEL}} 0.5
sglang:num_pages{${MODEL}} 200
sglang:cache_hit_rate{${MODEL}} 0.75`,
    report: { running: 4, waiting: 1, kvUsed: 0.5, freeBlocks: 100, cacheHitRate: 0.75 },
  },
  command:
    'python3 -m sglang.launch_server --model-path /models/tiny --host 127.0.0.1 --port {{port}} ' +
    '--served-model-name tiny --enable-metrics',
  flags,
};
