import { type InferenceEngine, textField } from '../engine.js';
import type { EngineSignals } from '../signals.js';
import { teiLaunch } from './launch.js';

/** It reports its queue, and nothing about running requests. */
const teiSignals: EngineSignals = {
  // The gauge exists from the first request on: its absence is no alarm.
  gives: [],
  read: (samples) => ({
    running: Number.NaN,
    waiting: samples.sum('te_queue_size'),
    kvUsed: Number.NaN,
    freeBlocks: Number.NaN,
    cacheHitRate: Number.NaN,
  }),
};

/** Embeddings only: the body of its `/rerank` is not the one of `/v1/rerank`, which it does not have. */
export const tei: InferenceEngine = {
  name: 'tei',
  summary: 'Text Embeddings Inference: embeddings on NVIDIA accelerators and processors',
  capabilities: { tasks: ['text-embedding'], loadHeader: false },
  signals: teiSignals,
  version: { path: '/info', read: textField('version') },
  launch: teiLaunch,
};
