import { countFlag, flagSchema, hostPath, mapFlag, onFlag, switchFlag, textFlag } from '../flag-schema.js';

const fromZero = { type: 'integer', minimum: 0 } as const;
const cacheType = { enum: ['f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_1', 'iq4_nl', 'q5_0', 'q5_1'] };

/** Flags that every version below has: the options of the server in `common/arg.cpp`. */
const common = {
  ctx_size: { ...fromZero, description: "Longest context in tokens, of all slots together; 0: the model's" },
  threads: countFlag,
  threads_batch: countFlag,
  batch_size: countFlag,
  ubatch_size: countFlag,
  tensor_split: textFlag,
  main_gpu: fromZero,
  cache_type_k: cacheType,
  cache_type_v: cacheType,
  cache_reuse: fromZero,
  embeddings: onFlag,
  reranking: onFlag,
  pooling: { enum: ['none', 'mean', 'cls', 'last', 'rank'] },
  chat_template: textFlag,
  reasoning_format: { enum: ['none', 'auto', 'deepseek', 'deepseek-legacy'] },
  seed: { type: 'integer', minimum: -1, description: '-1: random' },
  mmproj: { ...textFlag, ...hostPath, description: 'File of the projector of a model for images' },
  chat_template_kwargs: mapFlag,
  swa_full: onFlag,
} as const;

/** Flags of `llama-server` b6000: without `n_gpu_layers`, the model stays in the memory of the CPU. */
export const llamaCppB6000Parameters = flagSchema({
  ...common,
  parallel: { ...countFlag, description: 'Requests served at the same time' },
  n_gpu_layers: { ...fromZero, description: 'Layers on the GPU; default 0' },
  split_mode: { enum: ['none', 'layer', 'row'] },
  jinja: { ...switchFlag, description: 'Off by default: tool calls require it' },
  mlock: onFlag,
  no_mmap: onFlag,
});

/** Flags of `llama-server` v0.5.0: it puts as many layers on the GPU as fit; `load_mode` replaces `mlock` and `no_mmap`. */
export const llamaCpp050Parameters = flagSchema({
  ...common,
  parallel: { type: 'integer', minimum: -1, not: { const: 0 }, description: 'Slots; -1: as the server decides' },
  n_gpu_layers: {
    type: ['integer', 'string'],
    minimum: 0,
    pattern: '^(auto|all)$',
    description: "Layers on the GPU: a number, 'auto' (default) or 'all'",
  },
  split_mode: { enum: ['none', 'layer', 'row', 'tensor'] },
  cpu_moe: onFlag,
  n_cpu_moe: fromZero,
  load_mode: { enum: ['auto', 'none', 'mmap', 'mlock', 'mmap+mlock', 'dio'] },
  fit: { enum: ['on', 'off'], description: 'Whether sizes that are not set are reduced to fit the GPU; default on' },
  flash_attn: { enum: ['on', 'off', 'auto'] },
  kv_unified: switchFlag,
  cache_ram: { type: 'integer', minimum: -1, description: 'MiB of the cache of prompts; -1: no limit, 0: none' },
  jinja: { ...switchFlag, description: 'On by default' },
  context_shift: switchFlag,
  reasoning_budget: { type: 'integer', minimum: -1 },
});
