import { InputError } from '../../../kernel/errors.js';
import { derivedKvBlocks, derivedMaxModelLen } from '../../../replica/catalogue/kv-capacity.js';
import type { LatencyModel } from '../../../replica/latency/contract.js';
import { gpuFamily } from '../../../replica/latency/physics/gpu-family.js';
import { physics } from '../../../replica/latency/physics/physics.js';
import { stepDurationUs } from '../../../replica/latency/whole-us.js';
import { replicaFiles } from '../../../replica/replica-files.js';
import { replicaLatency } from '../../../replica/replica-latency.js';
import type { ReplicaModelConfig } from '../../../replica/replica-model-config.js';
import { gpuNotCarriedOver } from '../errors.js';

/**
 * The recorded engine with another GPU: the same settings, and the same share of the memory that fits. Throws where the data
 * sheets do not have the model or one of the GPUs, or the model does not fit.
 * @param place what names the GPU
 */
export function onOtherGpu(recorded: ReplicaModelConfig, gpu: string, place: string): ReplicaModelConfig {
  const [before, after] = [blocksThatFit(recorded, place), blocksThatFit({ ...recorded, hardware: gpu }, place)];
  const share = Math.min(1, recorded.totalKvBlocks / before.blocks);
  const totalKvBlocks = Math.max(1, Math.floor(share * after.blocks));
  const { blockSize } = recorded;
  // Where memory set the longest request, that of the other GPU does.
  const isMemory = recorded.maxModelLen >= recorded.totalKvBlocks * blockSize;
  const longest = isMemory ? before.maxContext : recorded.maxModelLen;
  return {
    ...recorded,
    hardware: after.gpu,
    totalKvBlocks,
    maxModelLen: derivedMaxModelLen({ maxContext: before.maxContext }, longest, totalKvBlocks, blockSize),
  };
}

/**
 * Steps on the other GPU take as long as the recorded ones, times what the data sheets say of the same step on both GPUs. What
 * the host does for a request stays.
 */
export function otherGpuLatency(
  recorded: ReplicaModelConfig,
  latency: LatencyModel,
  other: ReplicaModelConfig,
): LatencyModel {
  const [from, to] = [bySheet(recorded), bySheet(other)];
  return {
    ...latency,
    readsContexts: true,
    stepUs: (shape, startUs) =>
      stepDurationUs((latency.stepUs(shape, startUs) * to.stepUs(shape, startUs)) / from.stepUs(shape, startUs)),
  };
}

/** How far data sheets are off on a GPU, as a share. */
export function sheetError({ hardware }: ReplicaModelConfig): number {
  return gpuFamily(hardware).expected.itl / 100;
}

function bySheet(replica: ReplicaModelConfig): LatencyModel {
  const { latencyProfile: _, ...engine } = replica;
  return replicaLatency({
    ...engine,
    ...{ latencyModel: physics.name, alphaCoeffs: null, betaCoeffs: null },
    latencyFamily: gpuFamily(replica.hardware),
  });
}

function blocksThatFit(replica: ReplicaModelConfig, place: string) {
  try {
    const { gpu, model } = replicaFiles(replica);
    return { blocks: derivedKvBlocks(model, gpu, replica), gpu: gpu.name, maxContext: model.maxContext };
  } catch (error) {
    throw gpuNotCarriedOver(place, error instanceof InputError ? error.problem : (error as Error).message);
  }
}
