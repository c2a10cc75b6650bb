import type { EngineLaunch, LaunchTemplate } from '../launch.js';
import { PYTHON_ENGINE_ENV } from '../operator-env.js';
import { vllm10Parameters, vllm32Parameters } from './parameters.js';

const serve: Omit<LaunchTemplate, 'images' | 'parameters'> = {
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
    ['--revision', '{hub_revision}'],
    ['--tensor-parallel-size', '{tensor_parallel}'],
    ['--gpu-memory-utilization', '{gpu_memory_fraction}'],
    '{task...}',
    '{variables...}',
  ],
  task_arguments: { 'text-embedding': ['--runner', 'pooling'], 'text-rerank': ['--runner', 'pooling'] },
  // Every switch of `vllm serve` also exists as `--no-...`, and some are on by default.
  false_flags: 'no-prefix',
  allowed_env: [...PYTHON_ENGINE_ENV, 'VLLM_LOGGING_LEVEL', 'VLLM_ATTENTION_BACKEND', 'VLLM_USE_FLASHINFER_*'],
};

export const vllmLaunch: EngineLaunch = {
  default_version: 'v0.32',
  versions: {
    'v0.10': {
      ...serve,
      images: {
        nvidia: 'vllm/vllm-openai:v0.10.2',
        cpu: 'public.ecr.aws/q9t5s3a7/vllm-cpu-release-repo:v0.10.2',
      },
      parameters: vllm10Parameters,
    },
    'v0.32': {
      ...serve,
      images: {
        nvidia: 'vllm/vllm-openai:v0.32.0',
        amd: 'vllm/vllm-openai-rocm:v0.32.0',
        intel: 'vllm/vllm-openai-xpu:v0.32.0',
        cpu: 'vllm/vllm-openai-cpu:v0.32.0',
      },
      parameters: vllm32Parameters,
    },
  },
};
