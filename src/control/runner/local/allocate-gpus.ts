import type { Gpu, GpuShare, Placement } from '../contract.js';
import { gpuDemand } from '../gpu-demand.js';
import { exact, exactSum } from './exact-sum.js';

/** Of each GPU, the share that nobody has. What is held on a GPU that is no longer there does not count. */
export function freeShares(gpus: readonly Gpu[], held: readonly GpuShare[]): number[] {
  return gpus.map(({ id }) => {
    const shares = held.filter((one) => one.id === id).map(({ share }) => share);
    return Math.max(0, exactSum([1, ...shares.map((share) => -share)]));
  });
}

interface GpuWish {
  readonly gpus: number;
  readonly product: string | null;
  readonly placement?: Placement;
}

/**
 * Chooses GPUs for a replica, or says null when they are not to be had. Packed, a share goes to the device that it fills best,
 * so that whole devices stay whole; spread, to the one with the most left. Whole devices are all of one product, since the
 * slowest sets the pace of a tensor-parallel engine: that of which the fewest are left over, or the most. What fits equally well
 * is decided by the order of the list.
 */
export function allocateGpus(
  gpus: readonly Gpu[],
  held: readonly GpuShare[],
  { gpus: wanted, placement = 'pack', product }: GpuWish,
): GpuShare[] | null {
  const sign = placement === 'pack' ? 1 : -1;
  const { devices, memoryFraction } = gpuDemand(wanted);
  if (devices === 0) return [];
  const free = freeShares(gpus, held);
  const fitting = gpus.map((_, i) => i).filter((i) => isProduct(gpus[i]!, product));
  if (memoryFraction < 1) {
    const share = exact(memoryFraction);
    const open = fitting.filter((i) => free[i]! >= share);
    const best = lowest(open, (i) => sign * free[i]!);
    return best === undefined ? null : [{ id: gpus[best]!.id, share }];
  }
  const whole = fitting.filter((i) => free[i] === 1);
  const kinds = [...new Set(whole.map((i) => gpus[i]!.product))].map((kind) =>
    whole.filter((i) => gpus[i]!.product === kind),
  );
  const enough = kinds.filter((kind) => kind.length >= devices);
  const best = lowest(enough, (kind) => sign * kind.length);
  return best?.slice(0, devices).map((i) => ({ id: gpus[i]!.id, share: 1 })) ?? null;
}

/** Whether a device's name has all words of a product's: `H100` is in `NVIDIA H100 80GB HBM3`, `L4` is not in `NVIDIA L40`. */
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

/** The first of those that cost least. */
function lowest<Item>(items: readonly Item[], cost: (item: Item) => number): Item | undefined {
  let best: Item | undefined;
  for (const item of items) if (best === undefined || cost(item) < cost(best)) best = item;
  return best;
}
