import type { EndpointSlice, Pod, SliceEndpoint } from '../kube-object.js';

/** A replica that may get requests. */
export interface KubeReplica {
  /** Pod and namespace, and the port where a pod has several: `vllm-0.prod`, `vllm-0.prod:8001`. */
  readonly id: string;
  readonly url: string;
  /** The product of its GPUs, and its tensor parallelism, where the pod names them. */
  readonly product?: string;
  readonly tp?: number;
}

const DEFAULT_PORT = 8000;
/** Preferred where there are several and none was chosen. */
const PORT_NAMES = ['http', 'openai', 'api'];

/** The replicas in pods, ordered by id. A pod that is being deleted gets no more requests; those it has go on. */
export function replicasInPods(pods: Iterable<Pod>, ports: readonly string[]): KubeReplica[] {
  const found: KubeReplica[] = [];
  for (const pod of pods) {
    if (!isReady(pod)) continue;
    const numbers = podPorts(pod, ports);
    const gpus = podGpus(pod, numbers.length);
    for (const port of numbers) {
      found.push({ ...replica(pod.metadata, pod.status!.podIP!, port, numbers.length > 1), ...gpus });
    }
  }
  return found.sort(byId);
}

function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined || !status?.podIP) return false;
  return status.conditions?.some(({ status, type }) => type === 'Ready' && status === 'True') ?? false;
}

/** Labels of nodes that name the product of their GPUs, and devices that containers ask for. */
const PRODUCT_LABELS = ['nvidia.com/gpu.product', 'amd.com/gpu.product-name', 'cloud.google.com/gke-accelerator'];
const DEVICES = ['nvidia.com/gpu', 'amd.com/gpu'];
/** As vLLM, SGLang and the emulator spell it. */
const TENSOR_PARALLEL = /(?:^|\s)(?:--tensor-parallel-size|--tp-size|--tp|-tp)[=\s]+(\d{1,4})(?:\s|$)/;

/** From the pod alone: nodes need a right of their own. @param ranks engines of the pod, which share its devices */
function podGpus({ spec }: Pod, ranks: number): Pick<KubeReplica, 'product' | 'tp'> {
  const label = PRODUCT_LABELS.find((name) => spec.nodeSelector?.[name] !== undefined);
  const words = spec.containers.flatMap(({ args = [], command = [] }) => [...command, ...args]).join(' ');
  const given = Number(TENSOR_PARALLEL.exec(words)?.[1] ?? 0);
  const devices = spec.containers
    .flatMap(({ resources }) => DEVICES.map((name) => Number(resources?.limits?.[name] ?? 0)))
    .reduce((sum, count) => sum + count, 0);
  const tp = given > 0 ? given : devices / ranks;
  return {
    ...(label === undefined ? {} : { product: spec.nodeSelector![label]! }),
    ...(Number.isInteger(tp) && tp > 0 ? { tp } : {}),
  };
}

/** Names that no container of the pod has are left out: another version of the pod may have them. */
function podPorts({ spec }: Pod, wanted: readonly string[]): number[] {
  const declared = spec.containers.flatMap(({ ports = [] }) => ports);
  if (wanted.length === 0) {
    const named = PORT_NAMES.map((name) => declared.find((port) => port.name === name));
    return [(named.find((port) => port !== undefined) ?? declared[0])?.containerPort ?? DEFAULT_PORT];
  }
  return wanted.flatMap((port) => {
    if (/^\d+$/.test(port)) return [Number(port)];
    const { containerPort } = declared.find(({ name }) => name === port) ?? {};
    return containerPort === undefined ? [] : [containerPort];
  });
}

/** The replicas behind a Service, ordered by id. An address may be in several slices while they are rearranged. */
export function replicasInSlices(slices: Iterable<EndpointSlice>, ports: readonly string[]): KubeReplica[] {
  const found = new Map<string, KubeReplica>();
  for (const slice of slices) {
    if (slice.metadata.deletionTimestamp !== undefined || slice.addressType === 'FQDN') continue;
    const numbers = slicePorts(slice, ports);
    for (const endpoint of slice.endpoints ?? []) {
      const [address] = endpoint.addresses;
      if (address === undefined || !takesRequests(endpoint)) continue;
      const name = endpoint.targetRef?.name ?? address;
      for (const port of numbers) {
        const one = replica({ ...slice.metadata, name }, address, port, numbers.length > 1);
        found.set(one.id, one);
      }
    }
  }
  return [...found.values()].sort(byId);
}

/** `ready` may be unknown, which counts as ready; it is false while the pod terminates, even if it still serves. */
function takesRequests({ conditions }: SliceEndpoint): boolean {
  return (conditions?.ready ?? true) && conditions?.terminating !== true;
}

function slicePorts({ ports }: EndpointSlice, wanted: readonly string[]): number[] {
  const declared = (ports ?? []).filter(({ port }) => typeof port === 'number');
  if (wanted.length === 0) {
    const named = PORT_NAMES.map((name) => declared.find((port) => port.name === name));
    const chosen = named.find((port) => port !== undefined) ?? declared[0];
    return chosen === undefined ? [] : [chosen.port!];
  }
  return wanted.flatMap((port) => {
    if (/^\d+$/.test(port)) return [Number(port)];
    const chosen = declared.find(({ name }) => name === port);
    return chosen === undefined ? [] : [chosen.port!];
  });
}

function replica(
  { name, namespace = 'default' }: { name: string; namespace?: string },
  address: string,
  port: number,
  isRank: boolean,
): KubeReplica {
  const host = address.includes(':') ? `[${address}]` : address;
  return { id: `${name}.${namespace}${isRank ? `:${port}` : ''}`, url: `http://${host}:${port}` };
}

const byId = (a: KubeReplica, b: KubeReplica) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
