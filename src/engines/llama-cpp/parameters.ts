import { countFlag, flagSchema, switchFlag, textFlag } from '../flag-schema.js';

const fromZero = { type: 'integer', minimum: 0 } as const;
const cacheType = { enum: ['f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_1', 'iq4_nl', 'q5_0', 'q5_1'] };

/** Flags of `llama-server` b6000: `tools/server/README.md`. */
export const llamaCppParameters = flagSchema({
  ctx_size: { ...fromZero, description: "Longest context in tokens, of all slots together; 0: the model's" },
  parallel: { ...countFlag, description: 'Requests served at the same time' },
  threads: countFlag,
  threads_batch: countFlag,
  batch_size: countFlag,
  ubatch_size: countFlag,
  n_gpu_layers: fromZero,
  split_mode: { enum: ['none', 'layer', 'row'] },
  tensor_split: textFlag,
  main_gpu: fromZero,
  cache_type_k: cacheType,
  cache_type_v: cacheType,
  cache_reuse: fromZero,
  embeddings: switchFlag,
  reranking: switchFlag,
  pooling: { enum: ['none', 'mean', 'cls', 'last', 'rank'] },
  jinja: switchFlag,
  chat_template: textFlag,
  reasoning_format: { enum: ['none', 'auto', 'deepseek', 'deepseek-legacy'] },
  mlock: switchFlag,
  no_mmap: switchFlag,
  seed: { type: 'integer', minimum: -1, description: '-1: random' },
});
