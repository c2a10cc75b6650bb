import type { EngineSample } from '../engine.contract.js';
import { vllmMetrics } from '../vllm/sample.fixture.js';
import { flags } from './flags.fixture.js';

export const sample: EngineSample = {
  version: { document: { version: '0.11.0' }, is: '0.11.0' },
  signals: vllmMetrics,
  command: 'node main.js engine --model acme/tiny --host 127.0.0.1 --port {{port}} --served-model-name tiny',
  flags,
};
