import type { EngineLaunch, LaunchTemplate } from '../launch.js';
import { PYTHON_ENGINE_ENV } from '../operator-env.js';
import { sglang502Parameters, sglang523Parameters } from './parameters.js';

const serve: Omit<LaunchTemplate, 'images' | 'parameters'> = {
  command: [
    'python3',
    '-m',
    'sglang.launch_server',
    '--model-path',
    '{model}',
    '--host',
    '{host}',
    '--port',
    '{port}',
    '--served-model-name',
    '{served_model}',
    '--enable-metrics',
    ['--revision', '{hub_revision}'],
    ['--tp-size', '{tensor_parallel}'],
    ['--mem-fraction-static', '{gpu_memory_fraction}'],
    '{task...}',
    '{variables...}',
  ],
  task_arguments: { 'text-embedding': ['--is-embedding'] },
  allowed_env: [...PYTHON_ENGINE_ENV, 'SGLANG_LOG_LEVEL'],
};

export const sglangLaunch: EngineLaunch = {
  default_version: 'v0.5.23',
  versions: {
    'v0.5.2': { ...serve, images: { nvidia: 'lmsysorg/sglang:v0.5.2' }, parameters: sglang502Parameters },
    'v0.5.23': {
      ...serve,
      images: { nvidia: 'lmsysorg/sglang:v0.5.23', cpu: 'lmsysorg/sglang:v0.5.23-xeon' },
      parameters: sglang523Parameters,
    },
  },
};
