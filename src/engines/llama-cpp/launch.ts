import type { EngineLaunch } from '../launch.js';
import { llamaCppParameters } from './parameters.js';

export const llamaCppLaunch: EngineLaunch = {
  default_version: 'b6000',
  versions: {
    b6000: {
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
      // Its parser looks up the whole argument: `--ctx-size=0` is an unknown flag to it.
      flag_values: 'separate',
      images: { nvidia: 'ghcr.io/ggml-org/llama.cpp:server-cuda', cpu: 'ghcr.io/ggml-org/llama.cpp:server' },
      // Not LLAMA_ARG_*: each is a flag that the schema does not check.
      allowed_env: ['GGML_CUDA_*', 'OMP_NUM_THREADS', 'TZ'],
      parameters: llamaCppParameters,
    },
  },
};
