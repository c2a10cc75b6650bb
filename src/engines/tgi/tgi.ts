import { type InferenceEngine, textField } from '../engine.js';
import { tgiSignals } from './signals.js';

/** Replicas can be put behind the gateway; the control plane does not start them. */
export const tgi: InferenceEngine = {
  name: 'tgi',
  summary: 'Text Generation Inference',
  capabilities: { tasks: ['text-generation'], loadHeader: false },
  signals: tgiSignals,
  version: { path: '/info', read: textField('version') },
};
