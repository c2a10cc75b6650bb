import type { BuiltInEngine } from '../built-in-engines.js';

const count = { type: 'integer', minimum: 1 };
const text = { type: 'string', minLength: 1 };

export const llamaCpp: BuiltInEngine = {
  name: 'llama-cpp',
  spec: {
    description: 'llama.cpp: processors and small accelerators; one GGUF file',
    default_version: 'b6000',
    versions: {
      b6000: {
        tasks: ['text-generation', 'text-embedding', 'text-rerank'],
        command: [
          'llama-server',
          '--model',
          '{model}',
          '--host',
          '{host}',
          '--port',
          '{port}',
          '--alias',
          '{served_model}',
          '--metrics',
          '--slots',
          '{task...}',
          '{variables...}',
        ],
        task_arguments: { 'text-embedding': ['--embeddings'], 'text-rerank': ['--reranking'] },
        metrics: 'llamacpp',
        images: { nvidia: 'ghcr.io/ggml-org/llama.cpp:server-cuda', cpu: 'ghcr.io/ggml-org/llama.cpp:server' },
        parameters: {
          type: 'object',
          additionalProperties: false,
          properties: {
            ctx_size: {
              type: 'integer',
              minimum: 0,
              description: "Longest context in tokens, of all slots together; 0: the model's",
            },
            parallel: { ...count, description: 'Requests served at the same time' },
            threads: count,
            threads_batch: count,
            batch_size: count,
            ubatch_size: count,
            n_gpu_layers: { type: 'integer', minimum: 0 },
            split_mode: { enum: ['none', 'layer', 'row'] },
            tensor_split: text,
            main_gpu: { type: 'integer', minimum: 0 },
            cache_type_k: text,
            cache_type_v: text,
            cache_reuse: { type: 'integer', minimum: 0 },
            embeddings: { type: 'boolean' },
            reranking: { type: 'boolean' },
            pooling: { enum: ['none', 'mean', 'cls', 'last', 'rank'] },
            jinja: { type: 'boolean' },
            chat_template: text,
            reasoning_format: text,
            mlock: { type: 'boolean' },
            no_mmap: { type: 'boolean' },
            seed: { type: 'integer' },
          },
        },
      },
    },
  },
};
