import type { EngineSample } from '../engine.contract.js';
import { vllmMetrics } from '../vllm/sample.fixture.js';

export const sample: EngineSample = {
  signals: vllmMetrics,
  command: 'node main.js engine --model acme/tiny --host 127.0.0.1 --port {{port}} --served-model-name tiny',
};
