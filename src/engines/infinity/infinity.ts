import type { InferenceEngine } from '../engine.js';
import type { EngineSignals } from '../signals.js';
import { infinityLaunch } from './launch.js';

/** Its metrics count finished HTTP requests: neither running nor waiting ones. */
const infinitySignals: EngineSignals = {
  gives: [],
  read: () => ({
    running: Number.NaN,
    waiting: Number.NaN,
    kvUsed: Number.NaN,
    freeBlocks: Number.NaN,
    cacheHitRate: Number.NaN,
  }),
};

export const infinity: InferenceEngine = {
  name: 'infinity',
  summary: 'Infinity: embeddings and rerankers on NVIDIA and AMD accelerators and processors',
  capabilities: { tasks: ['text-embedding', 'text-rerank'], loadHeader: false },
  signals: infinitySignals,
  // The document of its API: `/v1` is the prefix that it is started with.
  version: { path: '/v1/openapi.json', read: (document) => versionOf((document as { info?: unknown }).info) },
  launch: infinityLaunch,
};

function versionOf(info: unknown): string | undefined {
  const { version } = (typeof info === 'object' && info !== null ? info : {}) as { version?: unknown };
  return typeof version === 'string' ? version : undefined;
}
