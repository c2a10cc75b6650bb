import { badGpuNumber } from './errors.js';

/** What a number of GPUs comes to: how many devices, and what share of each. */
export interface GpuDemand {
  readonly devices: number;
  /** 1 for whole devices. An engine that shares its device is told to keep to this fraction of the device's memory. */
  readonly memoryFraction: number;
}

/**
 * Reads `gpus: 0.5` as half a device and `gpus: 2` as two devices for one replica. Engine templates fill in both numbers:
 * tensor parallelism over the devices, and the fraction of memory.
 */
export function gpuDemand(gpus: number): GpuDemand {
  const isShare = gpus > 0 && gpus < 1;
  if (!isShare && !(Number.isSafeInteger(gpus) && gpus >= 0)) throw badGpuNumber(gpus);
  if (isShare) return { devices: 1, memoryFraction: gpus };
  return { devices: gpus, memoryFraction: gpus === 0 ? 0 : 1 };
}
