import type { InferenceEngine } from '../engine.js';
import { llamaCppLaunch } from './launch.js';
import { llamaCppSignals } from './signals.js';

export const llamaCpp: InferenceEngine = {
  name: 'llama-cpp',
  summary: 'llama.cpp, with its metrics and slots enabled: processors and small accelerators; one GGUF file',
  capabilities: { tasks: ['text-generation', 'text-embedding', 'text-rerank'], loadHeader: false },
  signals: llamaCppSignals,
  launch: llamaCppLaunch,
};
