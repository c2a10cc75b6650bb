import type { EngineLaunch } from '../launch.js';
import { PYTHON_ENGINE_ENV } from '../operator-env.js';
import { vllmParameters } from './parameters.js';

export const vllmLaunch: EngineLaunch = {
  default_version: 'v0.10',
  versions: {
    'v0.10': {
      command: [
        'vllm',
        'serve',
        '{model}',
        '--host',
        '{host}',
        '--port',
        '{port}',
        '--served-model-name',
        '{served_model}',
        ['--tensor-parallel-size', '{tensor_parallel}'],
        ['--gpu-memory-utilization', '{gpu_memory_fraction}'],
        '{task...}',
        '{variables...}',
      ],
      task_arguments: { 'text-embedding': ['--runner', 'pooling'], 'text-rerank': ['--runner', 'pooling'] },
      // Every switch of `vllm serve` also exists as `--no-...`, and some are on by default.
      false_flags: 'no-prefix',
      images: { nvidia: 'vllm/vllm-openai:v0.10.2', cpu: 'vllm/vllm-openai:v0.10.2' },
      allowed_env: [...PYTHON_ENGINE_ENV, 'VLLM_LOGGING_LEVEL', 'VLLM_ATTENTION_BACKEND', 'VLLM_USE_FLASHINFER_*'],
      parameters: vllmParameters,
    },
  },
};
