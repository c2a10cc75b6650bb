import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { derivedKvBlocks, derivedMaxModelLen } from '../../replica/catalogue/kv-capacity.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { servingDefaults } from '../../replica/catalogue/serving-defaults.js';
import { gpuFamily } from '../../replica/latency/physics/gpu-family.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import { unknownServed } from './errors.js';

/** The engines of an endpoint, as far as they are known. */
export interface ServedEngine {
  readonly model: string;
  /** Absent: as the catalogue has it for the model. */
  readonly hardware?: string;
  readonly tp?: number;
  /** Absent: step times are fitted to the recording. */
  readonly profile?: LatencyProfile;
}

const GPU_MEMORY = 0.9;
const BLOCK_SIZE = 16;

/** A model of the engines that serve an endpoint: memory and settings as its profile has them, else by the catalogue and as usual. */
export function servedReplica({ hardware, model, profile, tp }: ServedEngine): ReplicaModelConfig {
  const usual = servingDefaults(model);
  const gpuName = profile?.hardware ?? hardware ?? usual?.hardware;
  if (gpuName === undefined) throw unknownServed(`no usual GPU is known for '${model}'`);
  const measured = profile?.scheduler ?? {};
  // A profile that says how much fits needs no catalogue: its model and GPU may have any name.
  const saysMemory = measured.totalKvBlocks !== undefined && measured.maxModelLen !== undefined;
  const known = saysMemory ? null : loaded(() => dimensionsOf(model, gpuName, profile));
  const parallel = profile?.tp ?? tp ?? usual?.tp ?? 1;
  const blockSize = measured.blockSize ?? BLOCK_SIZE;
  const memory = { tp: parallel, dp: 1, blockSize, gpuMemoryUtilization: GPU_MEMORY };
  const totalKvBlocks = measured.totalKvBlocks ?? derivedKvBlocks(known!.model, known!.gpu, memory);
  const family = profile === undefined ? gpuFamily(known!.gpu.name) : undefined;
  const rules = measured.engineRules ?? family?.engineRules ?? 'classic';
  return {
    ...{ model: profile?.model ?? model.toLowerCase(), hardware: known?.gpu.name ?? gpuName, tp: parallel, dp: 1 },
    ...{ moeCommBackend: 'allgather_reducescatter', latencyModel: profile === undefined ? 'physics' : 'profile' },
    ...{ alphaCoeffs: null, betaCoeffs: null, totalKvBlocks, blockSize, gpuMemoryUtilization: GPU_MEMORY },
    maxModelLen: derivedMaxModelLen(known?.model ?? { maxContext: 0 }, measured.maxModelLen, totalKvBlocks, blockSize),
    maxNumSeqs: measured.maxNumSeqs ?? 256,
    maxNumBatchedTokens: measured.maxNumBatchedTokens ?? 2048,
    longPrefillTokenThreshold: measured.longPrefillTokenThreshold ?? 0,
    ...{ scheduler: 'fcfs', preemptionPolicy: 'fcfs' },
    ...(rules === 'classic' ? {} : { engineRules: rules }),
    ...(profile === undefined ? {} : { latencyProfile: profile }),
    ...(family === undefined ? {} : { latencyFamily: family }),
  };
}

/** As the profile was measured, else as the catalogue has them. @param named the model that a caller knows the profile's by */
function dimensionsOf(named: string, gpuName: string, profile: LatencyProfile | undefined) {
  const { gpu, model } = profile?.dimensions ?? {};
  return {
    model: model === undefined ? loadModel(named) : { name: profile!.model, ...model },
    gpu: gpu === undefined ? loadGpu(gpuName) : { name: gpuName, memoryGiB: gpu.memoryGib },
  };
}

function loaded<Known>(load: () => Known): Known {
  try {
    return load();
  } catch (error) {
    throw unknownServed((error as Error).message);
  }
}
