import type { ReplicaResources } from '../../contract.js';
import { gpuDemand } from '../../gpu-demand.js';
import type { KubernetesSettings } from '../../kubernetes-cluster.js';
import { noImage, noSharedGpus } from '../errors.js';

/** The label of nodes with the product of their GPUs, and what stands for a space in it, by the vendor's own labeller. */
export const productLabel = (gpuResource: string) =>
  isAmd(gpuResource)
    ? { name: 'amd.com/gpu.product-name', space: '_' }
    : { name: 'nvidia.com/gpu.product', space: '-' };

const isAmd = (gpuResource: string) => gpuResource.startsWith('amd.com/');

export interface PodResources {
  readonly requests: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/**
 * What a replica requests. GPUs are counted by their resource name: whole ones by `gpuResource`, a share as one unit of
 * `sharedGpuResource`, whose size the administrator of the cluster has chosen.
 */
export function podResources(
  { cpu, gpus, memoryBytes, product }: ReplicaResources,
  { gpuResource, nodeSelector, sharedGpuResource }: KubernetesSettings,
): PodResources {
  const { devices, memoryFraction } = gpuDemand(gpus);
  const label = productLabel(gpuResource);
  const isShare = memoryFraction > 0 && memoryFraction < 1;
  if (isShare && sharedGpuResource === null) throw noSharedGpus(gpus);
  const devicesOf: Record<string, string> =
    devices === 0 ? {} : { [isShare ? sharedGpuResource! : gpuResource]: String(devices) };
  const memory: Record<string, string> = memoryBytes === null ? {} : { memory: String(memoryBytes) };
  return {
    requests: { ...(cpu === null ? {} : { cpu: `${Math.ceil(cpu * 1000)}m` }), ...memory, ...devicesOf },
    // CPU is requested and not limited: throttling delays every token of all requests.
    limits: { ...memory, ...devicesOf },
    nodeSelector: {
      ...nodeSelector,
      ...(product === null ? {} : { [label.name]: product.replaceAll(' ', label.space) }),
    },
  };
}

/** The image for the accelerator of a replica. */
export function imageOf(images: Readonly<Record<string, string>>, gpus: number, gpuResource: string): string {
  const accelerator = gpus === 0 ? 'cpu' : isAmd(gpuResource) ? 'amd' : 'nvidia';
  const image = images[accelerator];
  if (image === undefined) throw noImage(accelerator, Object.keys(images));
  return image;
}
