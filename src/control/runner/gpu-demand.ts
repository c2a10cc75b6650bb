import type { Gpu } from './contract.js';
import { badGpuNumber } from './errors.js';

/** The number of devices and the share of each for a number of GPUs. */
export interface GpuDemand {
  readonly devices: number;
  /** 1 for whole devices. An engine that shares a device is limited to this fraction of its memory. */
  readonly memoryFraction: number;
}

/** `gpus: 0.5` is half a device, `gpus: 2` two devices for one replica, over which the engine splits the model. */
export function gpuDemand(gpus: number): GpuDemand {
  const isShare = gpus > 0 && gpus < 1;
  if (!isShare && !(Number.isSafeInteger(gpus) && gpus >= 0)) throw badGpuNumber(gpus);
  if (isShare) return { devices: 1, memoryFraction: gpus };
  return { devices: gpus, memoryFraction: gpus === 0 ? 0 : 1 };
}

/**
 * Whether a device's name has all words of a product: `H100` is in `NVIDIA H100 80GB HBM3`, `L4` is not in `NVIDIA
 * L40`.
 */
export function isProduct(gpu: Pick<Gpu, 'product'>, product: string | null): boolean {
  if (product === null) return true;
  const words = wordsOf(gpu.product);
  return wordsOf(product).every((word) => words.includes(word));
}

const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
