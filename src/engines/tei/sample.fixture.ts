import type { EngineSample } from '../engine.contract.js';
import { flags } from './flags.fixture.js';

const NONE = Number.NaN;

export const sample: EngineSample = {
  version: { document: { model_id: 'tiny', version: '1.9.3' }, is: '1.9.3' },
  signals: {
    metrics: 'te_queue_size 3\nte_request_count{method="batch"} 9',
    report: { running: NONE, waiting: 3, kvUsed: NONE, freeBlocks: NONE, cacheHitRate: NONE },
  },
  command:
    'text-embeddings-router --model-id /models/tiny --hostname 127.0.0.1 --port {{port}} --served-model-name tiny ' +
    '--prometheus-port 0',
  flags,
};
