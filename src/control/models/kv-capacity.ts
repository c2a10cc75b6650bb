import { InputError } from '../../kernel/errors.js';
import type { GpuSpec, ModelSpec } from '../../replica/catalogue/contract.js';
import { derivedKvBlocks, derivedMaxModelLen } from '../../replica/catalogue/kv-capacity.js';
import { badMemory } from './errors.js';

/** The GPUs of one replica. */
export interface GpuMemory {
  /** Per GPU. */
  readonly memoryGiB: number;
  /** The share that the engine may use; 0.9 by default. */
  readonly utilisation?: number;
  /** Over how many the model is split; 1 by default. */
  readonly gpus?: number;
  /** Tokens per block; 16 by default. */
  readonly blockSize?: number;
}

export interface KvCapacity {
  readonly blocks: number;
  readonly tokens: number;
  /** The longest request: the model's context, or all that the blocks hold. */
  readonly maxModelLen: number;
}

/** Instead of the catalogue's hints, which mention flags. */
const HINTS: Readonly<Record<string, string>> = {
  MODEL_DOES_NOT_FIT: 'give more GPUs, larger ones, or a smaller model',
  MODEL_LACKS_FIELD: 'add it to config.json; engines may serve the model anyway',
  UNSUPPORTED_ACTIVATION: 'engines may serve the model anyway, and report their own capacity',
};

/** The KV cache of one replica, by the same rules as the simulator. */
export function kvCapacity(model: ModelSpec, memory: GpuMemory): KvCapacity {
  const { blockSize = 16, gpus = 1, memoryGiB, utilisation = 0.9 } = memory;
  if (!(memoryGiB > 0 && Number.isFinite(memoryGiB))) throw badMemory('memoryGiB', memoryGiB, 'GiB above 0');
  if (!(utilisation > 0 && utilisation <= 1)) {
    throw badMemory('utilisation', utilisation, 'a fraction above 0, at most 1');
  }
  if (!Number.isSafeInteger(gpus) || gpus < 1) throw badMemory('gpus', gpus, 'a whole number of at least 1');
  if (!Number.isSafeInteger(blockSize) || blockSize < 1) {
    throw badMemory('blockSize', blockSize, 'a whole number of at least 1');
  }
  const gpu: GpuSpec = {
    name: `${memoryGiB} GiB`,
    memoryGiB,
    tflops: 0,
    tflopsFp8: 0,
    bandwidthTBs: 0,
    mfuPrefill: 0,
    mfuDecode: 0,
  };
  try {
    const blocks = derivedKvBlocks(model, gpu, { tp: gpus, dp: 1, blockSize, gpuMemoryUtilization: utilisation });
    const maxModelLen = derivedMaxModelLen(model, undefined, blocks, blockSize);
    return { blocks, tokens: blocks * blockSize, maxModelLen };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { code, place, problem, hint } = error;
    const here = place.startsWith('--') ? `model '${model.name}' on ${gpus} x ${memoryGiB} GiB` : place;
    throw new InputError(code, here, problem, HINTS[code] ?? hint);
  }
}
