import { InputError } from '../../kernel/errors.js';
import type { GpuSpec, ModelSpec } from '../../replica/catalogue/contract.js';
import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';

/** KV blocks where nothing says how many there are: more than any GPU holds. */
export const UNKNOWN_KV_BLOCKS = 2 ** 18;

/** What a replica's KV cache follows from. */
export interface MemoryDimensions {
  model: ModelSpec;
  gpu: Pick<GpuSpec, 'name' | 'memoryGiB'>;
}

/**
 * The dimensions for a profile that does not say how many KV blocks its engine has: from the user's files, from the profile where
 * it is of this model and GPU, or from the catalogue. Null where the model or the GPU is in none of them.
 */
export function profileMemory(
  { values }: FlagValues<InstanceFlags>,
  { dimensions = {}, hardware, model }: LatencyProfile,
  used: { model: string; hardware: string },
): MemoryDimensions | null {
  const modelConfigFolder = values['model-config-folder'] ?? undefined;
  const hardwareConfig = values['hardware-config'] ?? undefined;
  const isOwn = (given: string, measured: string) => given.toLowerCase() === measured.toLowerCase();
  const own = {
    model: modelConfigFolder === undefined && isOwn(used.model, model) ? dimensions.model : undefined,
    gpu: hardwareConfig === undefined && isOwn(used.hardware, hardware) ? dimensions.gpu : undefined,
  };
  try {
    return {
      model:
        own.model === undefined ? loadModel(used.model, { modelConfigFolder }) : { name: used.model, ...own.model },
      gpu:
        own.gpu === undefined
          ? loadGpu(used.hardware, { hardwareConfig })
          : { name: hardware, memoryGiB: own.gpu.memoryGib },
    };
  } catch (error) {
    const isUnknown = error instanceof InputError && ['UNKNOWN_MODEL', 'UNKNOWN_GPU'].includes(error.code);
    // A name that a flag gives is meant; the labels of a profile may be any.
    const isLabel = isUnknown && (error.place === '--model' ? values.model === null : values.hardware === null);
    if (!isLabel) throw error;
    return null;
  }
}
