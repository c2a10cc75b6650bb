import type { EngineLaunch } from '../launch.js';
import { emulatorParameters } from './parameters.js';

export const emulatorLaunch: EngineLaunch = {
  default_version: 'v1',
  versions: {
    v1: {
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
      allowed_env: ['TZ'],
      parameters: emulatorParameters,
    },
  },
};
