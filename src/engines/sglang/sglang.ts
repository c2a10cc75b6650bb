import { type InferenceEngine, textField } from '../engine.js';
import { sglangLaunch } from './launch.js';
import { sglangSignals } from './signals.js';

export const sglang: InferenceEngine = {
  name: 'sglang',
  summary: 'SGLang, with its metrics enabled: NVIDIA and AMD accelerators; text and embeddings',
  capabilities: { tasks: ['text-generation', 'text-embedding'], loadHeader: false },
  signals: sglangSignals,
  version: { path: '/get_server_info', read: textField('version') },
  launch: sglangLaunch,
};
