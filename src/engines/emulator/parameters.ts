import { countFlag, flagSchema, needsAdmin, ratioFlag, textFlag } from '../flag-schema.js';

const positive = { type: 'number', exclusiveMinimum: 0 } as const;
const seconds = { type: 'number', minimum: 0 } as const;

/** Flags of `twinyard engine`. */
export const emulatorParameters = flagSchema({
  hardware: { ...textFlag, description: 'GPU type' },
  tp: countFlag,
  speed: { ...positive, description: 'How many times as fast time passes' },
  mean_output_tokens: positive,
  latency_model: textFlag,
  total_kv_blocks: countFlag,
  gpu_memory_utilization: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  max_model_len: countFlag,
  block_size_in_tokens: countFlag,
  max_num_seqs: countFlag,
  max_num_batched_tokens: countFlag,
  max_num_queued_reqs: { type: 'integer', minimum: 0 },
  model_config_folder: { ...textFlag, ...needsAdmin('reads a folder of the machine') },
  startup_delay: { ...seconds, description: 'Seconds until it is ready' },
  drain: { ...seconds, description: 'Seconds that running requests get to finish when it stops' },
  fail_rate: ratioFlag,
  hang_rate: ratioFlag,
  disconnect_rate: ratioFlag,
  slow_factor: positive,
  seed: { type: 'integer' },
});
