import { type InferenceEngine, textField } from '../engine.js';
import { vllmSignals } from '../vllm/signals.js';
import { emulatorLaunch } from './launch.js';

/** `twinyard engine`: it needs no GPU, and of a model only its dimensions. Its metrics are those of vLLM. */
export const emulator: InferenceEngine = {
  name: 'emulator',
  summary: "The simulator's replica model in real time, with vLLM's API; runs anywhere",
  capabilities: { tasks: ['text-generation', 'text-embedding', 'text-rerank'], loadHeader: true },
  signals: vllmSignals,
  version: { path: '/version', read: textField('version') },
  launch: emulatorLaunch,
};
