import { InputError } from '../../kernel/errors.js';
import type { GpuSpec, ModelSpec } from '../../replica/catalogue/contract.js';
import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import type { ProfileDimensions, ProfileScheduler } from '../../replica/latency/profile.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';

/** The part of a profile that the size of a KV cache follows from. */
export function dimensionsOf({ gpu, model }: { model: ModelSpec; gpu: GpuSpec }): ProfileDimensions {
  return { model: withoutName(model), gpu: { memoryGib: gpu.memoryGiB } };
}

function withoutName({ name: _, ...sizes }: ModelSpec): Omit<ModelSpec, 'name'> {
  return sizes;
}

/** For a fit of steps: what flags say of the engine, and the dimensions of model and GPU where a file or the catalogue has them. */
export function knownDimensions(
  flags: FlagValues<InstanceFlags>,
  model: string,
  hardware: string,
): { dimensions?: ProfileDimensions; scheduler?: ProfileScheduler } {
  const { values } = flags;
  const given = <Value>(flag: keyof InstanceFlags & string, key: keyof ProfileScheduler, value: Value) =>
    flags.given(flag) ? { [key]: value } : {};
  const scheduler: ProfileScheduler = {
    ...given('engine-rules', 'engineRules', values['engine-rules']),
    ...given('block-size-in-tokens', 'blockSize', values['block-size-in-tokens']),
    ...given('total-kv-blocks', 'totalKvBlocks', values['total-kv-blocks']),
    ...given('max-model-len', 'maxModelLen', values['max-model-len']),
    ...given('max-num-seqs', 'maxNumSeqs', values['max-num-seqs']),
    ...given('max-num-batched-tokens', 'maxNumBatchedTokens', values['max-num-batched-tokens']),
    ...given('long-prefill-token-threshold', 'longPrefillTokenThreshold', values['long-prefill-token-threshold']),
  };
  const modelConfigFolder = values['model-config-folder'] ?? undefined;
  const hardwareConfig = values['hardware-config'] ?? undefined;
  const sizes = ifKnown(() => loadModel(model, { modelConfigFolder }));
  const gpu = ifKnown(() => loadGpu(hardware, { hardwareConfig }));
  const dimensions: ProfileDimensions = {
    ...(sizes === null ? {} : { model: withoutName(sizes) }),
    ...(gpu === null ? {} : { gpu: { memoryGib: gpu.memoryGiB } }),
  };
  return {
    ...(Object.keys(scheduler).length === 0 ? {} : { scheduler }),
    ...(Object.keys(dimensions).length === 0 ? {} : { dimensions }),
  };
}

/** Null for a name that is in no catalogue; a file that is wrong is an error. */
function ifKnown<Found>(load: () => Found): Found | null {
  try {
    return load();
  } catch (error) {
    if (error instanceof InputError && ['UNKNOWN_MODEL', 'UNKNOWN_GPU'].includes(error.code)) return null;
    throw error;
  }
}
