import type { EngineLaunch } from '../launch.js';
import { PYTHON_ENGINE_ENV } from '../operator-env.js';
import { sglangParameters } from './parameters.js';

export const sglangLaunch: EngineLaunch = {
  default_version: 'v0.5',
  versions: {
    'v0.5': {
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
        ['--tp-size', '{tensor_parallel}'],
        ['--mem-fraction-static', '{gpu_memory_fraction}'],
        '{task...}',
        '{variables...}',
      ],
      task_arguments: { 'text-embedding': ['--is-embedding'] },
      images: { nvidia: 'lmsysorg/sglang:v0.5.2' },
      allowed_env: [...PYTHON_ENGINE_ENV, 'SGLANG_LOG_LEVEL'],
      parameters: sglangParameters,
    },
  },
};
