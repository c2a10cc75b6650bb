import { countFlag, flagSchema, hostPath, needsAdmin, switchFlag, textFlag } from '../flag-schema.js';

/** Flags that every version below has: `sglang/srt/server_args.py`. */
const common = {
  context_length: { ...countFlag, description: 'Longest context in tokens' },
  mem_fraction_static: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  tp_size: countFlag,
  dp_size: countFlag,
  ep_size: countFlag,
  pp_size: countFlag,
  dtype: { enum: ['auto', 'half', 'float16', 'bfloat16', 'float', 'float32'] },
  quantization: textFlag,
  load_format: textFlag,
  max_running_requests: countFlag,
  max_queued_requests: countFlag,
  max_total_tokens: countFlag,
  chunked_prefill_size: { type: 'integer', minimum: -1, description: '-1: prompts are not split' },
  max_prefill_tokens: countFlag,
  page_size: countFlag,
  schedule_conservativeness: { type: 'number', exclusiveMinimum: 0 },
  attention_backend: textFlag,
  disable_radix_cache: switchFlag,
  disable_cuda_graph: switchFlag,
  enable_mixed_chunk: switchFlag,
  enable_torch_compile: switchFlag,
  trust_remote_code: { ...switchFlag, ...needsAdmin("runs Python code of the model's repository") },
  is_embedding: switchFlag,
  tokenizer_path: { ...textFlag, ...hostPath },
  chat_template: { ...textFlag, ...needsAdmin('may name a file, whose text requests can read') },
  tool_call_parser: textFlag,
  reasoning_parser: textFlag,
  speculative_algorithm: textFlag,
  speculative_draft_model_path: { ...textFlag, ...hostPath },
  speculative_num_steps: countFlag,
  lora_paths: { type: 'array', items: textFlag, ...hostPath, description: "Adapters as paths, or as 'name=path'" },
  random_seed: { type: 'integer' },
} as const;

/** Flags of `sglang.launch_server` 0.5.2: priorities came later. */
export const sglang502Parameters = flagSchema({
  ...common,
  kv_cache_dtype: { enum: ['auto', 'fp8_e5m2', 'fp8_e4m3'] },
  schedule_policy: { enum: ['lpm', 'random', 'fcfs', 'dfs-weight', 'lof'] },
  sampling_backend: { enum: ['flashinfer', 'pytorch'] },
});

/** Flags of `sglang.launch_server` 0.5.23. */
export const sglang523Parameters = flagSchema({
  ...common,
  kv_cache_dtype: { ...textFlag, description: "'auto', 'bf16', 'fp8_e4m3' and others" },
  schedule_policy: {
    enum: [
      ...['lpm', 'random', 'fcfs', 'dfs-weight', 'lof', 'priority'],
      ...['routing-key', 'hrrn', 'shortest-prefill-first'],
    ],
  },
  enable_priority_scheduling: switchFlag,
  sampling_backend: textFlag,
  dcp_size: countFlag,
  moe_runner_backend: textFlag,
  enable_hierarchical_cache: switchFlag,
  hicache_ratio: {
    type: 'number',
    exclusiveMinimum: 0,
    description: 'Size of the cache in CPU memory by that on GPUs',
  },
  enable_lora: switchFlag,
  max_loras_per_batch: countFlag,
});
