import { type InferenceEngine, textField } from '../engine.js';
import { vllmLaunch } from './launch.js';
import { vllmSignals } from './signals.js';

export const vllm: InferenceEngine = {
  name: 'vllm',
  summary: 'vLLM: NVIDIA, AMD and other accelerators; text, embeddings, rerankers',
  capabilities: { tasks: ['text-generation', 'text-embedding', 'text-rerank'], loadHeader: true },
  signals: vllmSignals,
  version: { path: '/version', read: textField('version') },
  launch: vllmLaunch,
};
