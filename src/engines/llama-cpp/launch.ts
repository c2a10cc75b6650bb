import type { EngineLaunch, LaunchTemplate } from '../launch.js';
import { llamaCpp050Parameters, llamaCppB6000Parameters } from './parameters.js';

const serve: Omit<LaunchTemplate, 'images' | 'parameters'> = {
  command: [
    'llama-server',
    ['--model', '{model_path}'],
    ['--hf-repo', '{hub_model}'],
    ['--hf-file', '{hub_file}'],
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
  // Not LLAMA_ARG_*: each is a flag that the schema does not check. The token is the operator's own.
  allowed_env: ['GGML_CUDA_*', 'HF_TOKEN', 'OMP_NUM_THREADS', 'TZ'],
};

const IMAGE = 'ghcr.io/ggml-org/llama.cpp';

export const llamaCppLaunch: EngineLaunch = {
  default_version: 'v0.5.0',
  versions: {
    b6000: {
      ...serve,
      images: {
        nvidia: `${IMAGE}:server-cuda-b6000`,
        intel: `${IMAGE}:server-intel-b6000`,
        cpu: `${IMAGE}:server-b6000`,
      },
      parameters: llamaCppB6000Parameters,
    },
    'v0.5.0': {
      ...serve,
      // Some switches are on by default: jinja, for one.
      false_flags: 'no-prefix',
      images: {
        nvidia: `${IMAGE}:server-cuda-v0.5.0`,
        amd: `${IMAGE}:server-rocm-v0.5.0`,
        intel: `${IMAGE}:server-intel-v0.5.0`,
        cpu: `${IMAGE}:server-v0.5.0`,
      },
      parameters: llamaCpp050Parameters,
    },
  },
};
