import type { EngineSample } from '../engine.contract.js';
import { flags } from './flags.fixture.js';

const NONE = Number.NaN;

export const sample: EngineSample = {
  version: { document: { openapi: '3.1.0', info: { title: 'Infinity', version: '0.0.78' } }, is: '0.0.78' },
  signals: {
    metrics: 'http_requests_total{handler="/v1/embeddings",method="POST",status="2xx"} 7.0',
    report: { running: NONE, waiting: NONE, kvUsed: NONE, freeBlocks: NONE, cacheHitRate: NONE },
  },
  command:
    'infinity_emb v2 --model-id /models/tiny --host 127.0.0.1 --port {{port}} --served-model-name tiny --url-prefix /v1',
  flags,
};
