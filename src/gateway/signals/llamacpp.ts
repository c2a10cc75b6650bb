import type { Engine } from './engine.js';

/** llama.cpp's server, started with --metrics. Its KV cache is divided into slots: busy ones count as used. */
export const llamacpp: Engine = {
  name: 'llamacpp',
  summary: 'llama.cpp, with its metrics and slots enabled',
  gives: ['running', 'waiting', 'kvUsed'],
  read(samples) {
    return {
      running: samples.sum('llamacpp:requests_processing'),
      waiting: samples.sum('llamacpp:requests_deferred'),
      kvUsed: Number.NaN,
      freeBlocks: Number.NaN,
      cacheHitRate: samples.sum('llamacpp:prompt_tokens_cached_total') / samples.sum('llamacpp:prompt_tokens_total'),
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
