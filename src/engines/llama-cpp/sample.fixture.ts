import type { EngineSample } from '../engine.contract.js';
import { flags } from './flags.fixture.js';

export const sample: EngineSample = {
  version: { document: { total_slots: 4, build_info: 'b6700-3df2244d' }, is: 'b6700-3df2244d' },
  signals: {
    metrics: `llamacpp:requests_processing 2
llamacpp:requests_deferred 5
llamacpp:prompt_tokens_total 70
llamacpp:prompt_tokens_cached_total 30`,
    extra: [{ id: 0, is_processing: true }, { id: 1, is_processing: false }, { id: 2, is_processing: true }, { id: 3 }],
    report: { running: 2, waiting: 5, kvUsed: 0.5, freeBlocks: Number.NaN, cacheHitRate: 0.3 },
  },
  command: 'llama-server --model /models/tiny --host 127.0.0.1 --port {{port}} --alias tiny --metrics --slots',
  flags,
};
