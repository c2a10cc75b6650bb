import { countFlag, flagSchema, needsAdmin, switchFlag, textFlag } from '../flag-schema.js';
import type { EngineLaunch } from '../launch.js';
import { PYTHON_ENGINE_ENV } from '../operator-env.js';

export const infinityLaunch: EngineLaunch = {
  default_version: 'v0.0.78',
  versions: {
    'v0.0.78': {
      command: [
        'infinity_emb',
        'v2',
        '--model-id',
        '{model}',
        '--host',
        '{host}',
        '--port',
        '{port}',
        '--served-model-name',
        '{served_model}',
        // Without it, the paths are `/embeddings` and `/rerank`.
        '--url-prefix',
        '/v1',
        ['--revision', '{hub_revision}'],
        '{variables...}',
      ],
      // Its switches exist as `--no-...` too, and some are on by default.
      false_flags: 'no-prefix',
      allowed_env: PYTHON_ENGINE_ENV,
      images: { nvidia: 'michaelf34/infinity:0.0.77', cpu: 'michaelf34/infinity:0.0.77-cpu' },
      parameters: flagSchema({
        batch_size: countFlag,
        engine: { enum: ['torch', 'ctranslate2', 'optimum', 'neuron', 'debugengine'] },
        device: { enum: ['cpu', 'cuda', 'mps', 'tensorrt', 'xla', 'auto'] },
        dtype: { enum: ['float32', 'float16', 'bfloat16', 'int8', 'fp8', 'auto'] },
        embedding_dtype: { enum: ['float32', 'int8', 'uint8', 'binary', 'ubinary'] },
        pooling_method: { enum: ['mean', 'cls', 'auto'] },
        model_warmup: switchFlag,
        lengths_via_tokenize: switchFlag,
        vector_disk_cache: switchFlag,
        compile: switchFlag,
        bettertransformer: switchFlag,
        trust_remote_code: { ...switchFlag, ...needsAdmin("runs Python code of the model's repository") },
        log_level: { ...textFlag, description: "'info', 'debug' and others" },
      }),
    },
  },
};
