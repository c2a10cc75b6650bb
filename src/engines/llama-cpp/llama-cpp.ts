import { type InferenceEngine, textField } from '../engine.js';
import { llamaCppLaunch } from './launch.js';
import { llamaCppSignals } from './signals.js';

export const llamaCpp: InferenceEngine = {
  name: 'llama-cpp',
  summary: 'llama.cpp, with its metrics and slots enabled: processors and small accelerators; one GGUF file',
  capabilities: { tasks: ['text-generation', 'text-embedding', 'text-rerank'], loadHeader: false },
  signals: llamaCppSignals,
  version: { path: '/props', read: textField('build_info') },
  launch: llamaCppLaunch,
};
