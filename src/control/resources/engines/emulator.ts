import type { BuiltInEngine } from '../built-in-engines.js';

const share = { type: 'number', minimum: 0, maximum: 1 };
const count = { type: 'integer', minimum: 1 };
const text = { type: 'string', minLength: 1 };

/** `twinyard engine`: needs no GPU, and no model beyond its dimensions. */
export const emulator: BuiltInEngine = {
  name: 'emulator',
  spec: {
    description: 'The replica model of the simulator in real time, behind an API as of vLLM; runs anywhere',
    default_version: 'v1',
    versions: {
      v1: {
        tasks: ['text-generation', 'text-embedding', 'text-rerank'],
        command: [
          '{self...}',
          'engine',
          '--model',
          '{model_name}',
          '--host',
          '{host}',
          '--port',
          '{port}',
          '--served-model-name',
          '{served_model}',
          ['--tp', '{tensor_parallel}'],
          ['--gpu-memory-utilization', '{gpu_memory_fraction}'],
          '{variables...}',
        ],
        metrics: 'vllm',
        parameters: {
          type: 'object',
          additionalProperties: false,
          properties: {
            hardware: { ...text, description: 'GPU type' },
            tp: count,
            speed: { type: 'number', exclusiveMinimum: 0, description: 'How many times as fast time passes' },
            mean_output_tokens: { type: 'number', exclusiveMinimum: 0 },
            latency_model: text,
            total_kv_blocks: count,
            gpu_memory_utilization: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
            max_model_len: count,
            block_size_in_tokens: count,
            max_num_seqs: count,
            max_num_batched_tokens: count,
            max_num_queued_reqs: { type: 'integer', minimum: 0 },
            model_config_folder: text,
            startup_delay: { type: 'number', minimum: 0, description: 'Seconds until it is ready' },
            drain: { type: 'number', minimum: 0, description: 'Seconds that requests get to end' },
            fail_rate: share,
            hang_rate: share,
            disconnect_rate: share,
            slow_factor: { type: 'number', exclusiveMinimum: 0 },
            seed: { type: 'integer' },
          },
        },
      },
    },
  },
};
