import type { EngineSignals } from '../signals.js';

/** The KV cache is divided into slots: busy ones count as used. */
export const llamaCppSignals: EngineSignals = {
  gives: ['running', 'waiting', 'kvUsed'],
  read(samples) {
    // Prompt tokens that came from the cache are not part of `prompt_tokens_total`.
    const cached = samples.sum('llamacpp:prompt_tokens_cached_total');
    return {
      running: samples.sum('llamacpp:requests_processing'),
      waiting: samples.sum('llamacpp:requests_deferred'),
      kvUsed: Number.NaN,
      freeBlocks: Number.NaN,
      cacheHitRate: cached / (cached + samples.sum('llamacpp:prompt_tokens_total')),
    };
  },
  extra: {
    path: '/slots',
    read(document, report) {
      if (!Array.isArray(document) || document.length === 0) return;
      const busy = document.filter((slot) => (slot as { is_processing?: unknown }).is_processing === true).length;
      report.kvUsed = busy / document.length;
    },
  },
};
