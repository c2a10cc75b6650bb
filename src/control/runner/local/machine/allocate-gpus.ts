import type { Gpu, GpuPlacement, GpuShare } from '../../contract.js';
import { gpuDemand, isProduct } from '../../gpu-demand.js';

/** The free share of each GPU. Shares of a GPU that is no longer there do not count. */
export function freeShares(gpus: readonly Gpu[], held: readonly GpuShare[]): number[] {
  return gpus.map(({ id }) => {
    const shares = held.filter((one) => one.id === id).map(({ share }) => share);
    return Math.max(0, exactSum([1, ...shares.map((share) => -share)]));
  });
}

interface GpuRequest {
  readonly gpus: number;
  readonly product: string | null;
  readonly placement?: GpuPlacement;
}

/**
 * Chooses GPUs for a replica; null when they are not available. With `pack`, a share goes to the device that it fills best, so
 * that whole devices stay free; with `spread`, to the one with the most left. Whole devices are all of one product, since the
 * slowest device sets the pace of a tensor-parallel engine: the product of which the fewest devices are free, or the most. Ties
 * are decided by the order of the list.
 */
export function allocateGpus(
  gpus: readonly Gpu[],
  held: readonly GpuShare[],
  { gpus: wanted, placement = 'pack', product }: GpuRequest,
): GpuShare[] | null {
  const sign = placement === 'pack' ? 1 : -1;
  const { devices, memoryFraction } = gpuDemand(wanted);
  if (devices === 0) return [];
  const free = freeShares(gpus, held);
  const fitting = gpus.map((_, i) => i).filter((i) => isProduct(gpus[i]!, product));
  if (memoryFraction < 1) {
    const share = exactShare(memoryFraction);
    const open = fitting.filter((i) => free[i]! >= share);
    const best = lowest(open, (i) => sign * free[i]!);
    return best === undefined ? null : [{ id: gpus[best]!.id, share, product: gpus[best]!.product }];
  }
  const whole = fitting.filter((i) => free[i] === 1);
  const kinds = [...new Set(whole.map((i) => gpus[i]!.product))].map((kind) =>
    whole.filter((i) => gpus[i]!.product === kind),
  );
  const enough = kinds.filter((kind) => kind.length >= devices);
  const best = lowest(enough, (kind) => sign * kind.length);
  return best?.slice(0, devices).map((i) => ({ id: gpus[i]!.id, share: 1, product: gpus[i]!.product })) ?? null;
}

/** Shares are counted in millionths: in floating point, ten tenths are not one. */
const PARTS = 1e6;

/** A share as it is counted: never rounded to 0. */
const exactShare = (share: number) => Math.max(1, Math.round(share * PARTS)) / PARTS;

export function exactSum(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + Math.round(share * PARTS), 0) / PARTS;
}

/** The first one with the lowest cost. */
function lowest<Item>(items: readonly Item[], cost: (item: Item) => number): Item | undefined {
  let best: Item | undefined;
  for (const item of items) if (best === undefined || cost(item) < cost(best)) best = item;
  return best;
}
