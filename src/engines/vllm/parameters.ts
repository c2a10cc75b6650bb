import { countFlag, flagSchema, hostPath, mapFlag, needsAdmin, switchFlag, textFlag } from '../flag-schema.js';

const gibPerGpu = { type: 'number', minimum: 0, description: 'GiB per GPU' } as const;

/** Flags that every version below has: `vllm/engine/arg_utils.py` and `cli_args.py` of the API server. */
const common = {
  max_model_len: { ...countFlag, description: 'Longest context in tokens' },
  gpu_memory_utilization: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  kv_cache_memory_bytes: { ...countFlag, description: 'Per GPU; gpu_memory_utilization is then ignored' },
  tensor_parallel_size: countFlag,
  pipeline_parallel_size: countFlag,
  data_parallel_size: countFlag,
  enable_expert_parallel: switchFlag,
  dtype: { enum: ['auto', 'half', 'float16', 'bfloat16', 'float', 'float32'] },
  quantization: textFlag,
  load_format: textFlag,
  max_num_seqs: countFlag,
  max_num_batched_tokens: countFlag,
  cpu_offload_gb: gibPerGpu,
  enable_prefix_caching: switchFlag,
  enable_chunked_prefill: switchFlag,
  async_scheduling: switchFlag,
  enforce_eager: switchFlag,
  trust_remote_code: { ...switchFlag, ...needsAdmin("runs Python code of the model's repository") },
  scheduling_policy: { enum: ['fcfs', 'priority'] },
  runner: { enum: ['auto', 'generate', 'pooling', 'draft'] },
  tokenizer: { ...textFlag, ...hostPath },
  tokenizer_mode: textFlag,
  chat_template: { ...textFlag, ...needsAdmin('may name a file, whose text requests can read') },
  enable_auto_tool_choice: switchFlag,
  tool_call_parser: textFlag,
  reasoning_parser: textFlag,
  generation_config: { ...textFlag, ...hostPath },
  override_generation_config: mapFlag,
  enable_lora: switchFlag,
  max_loras: countFlag,
  max_lora_rank: countFlag,
  lora_modules: {
    type: 'array',
    items: { anyOf: [textFlag, mapFlag] },
    ...hostPath,
    description: "Adapters as 'name=path', or as maps",
  },
  speculative_config: { ...mapFlag, ...hostPath },
  kv_transfer_config: { ...mapFlag, ...needsAdmin('may name a Python module to load') },
  kv_events_config: mapFlag,
  compilation_config: { type: ['object', 'integer'], ...needsAdmin('may name Python functions to call') },
  limit_mm_per_prompt: mapFlag,
  mm_processor_kwargs: mapFlag,
  hf_overrides: mapFlag,
  seed: { type: 'integer' },
} as const;

/** Flags of `vllm serve` 0.10. */
export const vllm10Parameters = flagSchema({
  ...common,
  kv_cache_dtype: { enum: ['auto', 'fp8', 'fp8_e4m3', 'fp8_e5m2', 'fp8_inc'] },
  block_size: { enum: [1, 8, 16, 32, 64, 128] },
  swap_space: gibPerGpu,
  convert: { enum: ['auto', 'none', 'embed', 'classify', 'reward'] },
  task: { ...textFlag, description: 'Deprecated: set runner and convert' },
  rope_scaling: mapFlag,
});

/** Flags of `vllm serve` 0.32: `swap_space`, `task` and `rope_scaling` are gone; the last is part of `hf_overrides`. */
export const vllm32Parameters = flagSchema({
  ...common,
  max_model_len: {
    type: ['integer', 'string'],
    minimum: 1,
    pattern: '^auto$',
    description: "Longest context in tokens; 'auto': as long as fits in GPU memory",
  },
  kv_cache_dtype: { ...textFlag, description: "'auto', 'bfloat16', 'fp8' and others" },
  block_size: countFlag,
  convert: { enum: ['auto', 'none', 'embed', 'classify'] },
  decode_context_parallel_size: countFlag,
  prefill_context_parallel_size: countFlag,
  attention_backend: textFlag,
  kv_offloading_size: { type: 'number', exclusiveMinimum: 0, description: 'GiB of CPU memory, all GPUs together' },
  kv_offloading_backend: { enum: ['native', 'lmcache'] },
  default_chat_template_kwargs: mapFlag,
  structured_outputs_config: mapFlag,
  pooler_config: mapFlag,
  language_model_only: switchFlag,
});
