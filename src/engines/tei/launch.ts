import { countFlag, flagSchema, hostPath, textFlag } from '../flag-schema.js';
import type { EngineLaunch } from '../launch.js';

export const teiLaunch: EngineLaunch = {
  default_version: 'v1.9',
  versions: {
    'v1.9': {
      command: [
        'text-embeddings-router',
        '--model-id',
        '{model}',
        '--hostname',
        '{host}',
        '--port',
        '{port}',
        '--served-model-name',
        '{served_model}',
        // Metrics are read from the main port; replicas on one machine must not share the default, 9000.
        '--prometheus-port',
        '0',
        ['--revision', '{hub_revision}'],
        '{variables...}',
      ],
      false_flags: 'value',
      allowed_env: ['HF_TOKEN', 'HF_HUB_OFFLINE', 'OMP_NUM_THREADS', 'TZ'],
      images: {
        nvidia: 'ghcr.io/huggingface/text-embeddings-inference:1.9',
        cpu: 'ghcr.io/huggingface/text-embeddings-inference:cpu-1.9',
      },
      parameters: flagSchema({
        dtype: { enum: ['float16', 'float32'] },
        pooling: { enum: ['cls', 'mean', 'splade', 'last-token'] },
        max_concurrent_requests: countFlag,
        max_batch_tokens: countFlag,
        max_batch_requests: countFlag,
        max_client_batch_size: countFlag,
        tokenization_workers: countFlag,
        payload_limit: { ...countFlag, description: 'Bytes' },
        auto_truncate: { type: 'boolean', description: 'Whether inputs that are too long are cut; on by default' },
        default_prompt: textFlag,
        default_prompt_name: textFlag,
        dense_path: { ...textFlag, ...hostPath },
      }),
    },
  },
};
