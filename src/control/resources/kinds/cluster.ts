import * as v from 'valibot';
import type { InputError } from '../../../kernel/errors.js';
import {
  choice,
  field,
  flag,
  list,
  listOf,
  map,
  number,
  pattern,
  required,
  secret,
  section,
  text,
  type Value,
  whole,
} from '../../../schema/fields.js';
import { RUNNER_TYPES } from '../../runner/registry.js';
import { invalidField } from '../errors.js';
import { column, defineKind } from '../kind.js';
import { description, memory, name, written } from '../parts.js';

const accelerator = section('Accelerator', {
  id: required(text(100), { help: 'id as in CUDA_VISIBLE_DEVICES' }),
  product: required(text(), { help: "product name, such as 'NVIDIA H100'" }),
  memory: field(memory, { help: 'memory of the device' }),
});

const LABEL = /^[A-Za-z0-9](?:[\w./-]{0,251}[A-Za-z0-9])?$/;
const label = pattern(LABEL, "a name such as 'example.com/gpu'", 253);
const labelValue = pattern(/^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/, 'at most 63 letters, digits, - _ and .');

const toleration = section('Toleration', {
  key: field(label, { help: 'key of the taint; all taints without it' }),
  operator: field(choice(['Exists', 'Equal']), { help: 'how the value is compared' }),
  value: field(labelValue, { help: 'value of the taint' }),
  effect: field(choice(['NoSchedule', 'PreferNoSchedule', 'NoExecute']), {
    help: 'effect of the taint; all without it',
  }),
});

const kubernetes = section('Kubernetes', {
  kubeconfig: field(text(), {
    defaultText: "KUBECONFIG, the pod's service account, or ~/.kube/config",
    help: 'file on the machine of the control plane',
  }),
  context: field(text(253), { defaultText: 'the current one', help: 'context in the kubeconfig' }),
  namespace: field(name, { defaultText: 'that of the context or pod', help: 'namespace of the replicas' }),
  gpu_resource: field(label, { default: 'nvidia.com/gpu', help: 'resource name of whole GPUs' }),
  shared_gpu_resource: field(label, {
    defaultText: 'shares of a GPU are refused',
    help: 'resource name of shared GPUs, such as nvidia.com/gpu.shared',
  }),
  image_pull_secrets: field(listOf(label, 0, 20), { default: [], help: 'Secrets for pulling images' }),
  node_selector: field(map('labels', labelValue, label), {
    default: {},
    help: 'labels of nodes that replicas may use',
  }),
  tolerations: field(listOf(toleration, 0, 50), { default: [], help: 'taints of nodes that replicas may use' }),
  service_account: field(label, { defaultText: "the namespace's default", help: 'service account of the pods' }),
  model_cache: field(label, {
    defaultText: 'each pod downloads its model',
    help: 'PersistentVolumeClaim, mounted at /models with HF_HOME there: replicas download a model once',
  }),
  adds_nodes: field(flag, {
    default: false,
    help: 'an autoscaler adds nodes: replicas that fit no node wait instead of being refused',
  }),
  json_patches: field(choice(['none', 'admin', 'operator']), {
    default: 'none',
    help: "who may set 'json_patches' of endpoints: they can run any image, mount the host and read Secrets of the namespace",
  }),
  run_as_user: field(whole(1), {
    defaultText: 'as the image says',
    help: 'user id of the engines, which are not root then; not all images allow it',
  }),
});

const PORTS = /^(\d{1,5})-(\d{1,5})$/;

/** The first and the last port of a range; null when it is none. */
export function portRange(text: string): readonly [number, number] | null {
  const [, first, last] = PORTS.exec(text)?.map(Number) ?? [];
  return first !== undefined && last !== undefined && first > 0 && first <= last && last < 65_536
    ? [first, last]
    : null;
}

const address = pattern(/^[A-Za-z0-9](?:[\w.:-]{0,251}\w)?$/, 'an address or a host name', 253);

const ray = section('Ray', {
  url: required(pattern(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/, "a URL such as 'http://10.0.0.1:8265'", 2048), {
    help: 'URL of the dashboard on the head node, or of a proxy in front of it',
  }),
  token: field(secret(), { help: 'token of a Ray cluster with RAY_AUTH_MODE=token, sent to the dashboard only' }),
  ca_file: field(text(), {
    defaultText: "the system's certificates",
    help: 'certificates to trust for https, a file on the machine of the control plane',
  }),
  ports: field(pattern(PORTS, "a range such as '30000-30999'", 11), {
    default: '30000-30999',
    help: 'ports of engines on each node, which the gateway must reach',
  }),
  node_addresses: field(map('addresses', address, address), {
    default: {},
    help: 'addresses of nodes for the gateway by their addresses in Ray, where they differ',
  }),
});

const spec = section('Cluster spec', {
  type: field(choice(RUNNER_TYPES.map((one) => one.name)), {
    default: 'local',
    help: `runner: ${RUNNER_TYPES.map((one) => `${one.name}: ${one.summary}`).join('; ')}`,
  }),
  accelerators: field(list(accelerator), {
    defaultText: 'detected',
    help: 'GPUs that replicas may use',
  }),
  kubernetes: field(kubernetes, { help: 'where and how pods run, for type kubernetes' }),
  ray: field(ray, { help: 'where the cluster is, for type ray' }),
  code_loading: field(choice(['admin', 'operator']), {
    default: 'admin',
    help: "who may set variables that the engine's schema marks as loading code or naming files",
  }),
  extra_args: field(choice(['none', 'admin', 'operator']), {
    default: 'none',
    help: "who may set variables that the engine's schema does not list; they may load code",
  }),
  description,
});

export type ClusterSpec = Value<typeof spec>;

const observed = section('Observed accelerator', {
  id: required(written, { help: 'id' }),
  product: required(written, { help: 'product name' }),
  memory_mib: required(v.nullable(number()), { help: 'memory; null if unknown' }),
  free: required(number(), { help: 'share that is not allocated' }),
});

const amount = number(0);

const node = section('Observed node', {
  name: required(written, { help: 'address in the cluster' }),
  cpus: required(amount, { help: 'CPUs' }),
  free_cpus: required(amount, { help: 'CPUs that are not allocated' }),
  memory_bytes: required(amount, { help: 'memory' }),
  free_memory_bytes: required(amount, { help: 'memory that is not allocated' }),
  gpus: required(amount, { help: 'GPUs' }),
  free_gpus: required(amount, { help: 'GPUs that are not allocated: the sum of free shares' }),
  product: required(v.nullable(written), { help: 'product name of its GPUs; null if unknown' }),
});

/** `58/64`; empty where the size is not known. */
function ofAll(free: unknown, all: unknown, unit = ''): string {
  if (typeof free !== 'number' || typeof all !== 'number' || all === 0) return '';
  return `${Math.round(free * 10) / 10}/${Math.round(all * 10) / 10}${unit && ` ${unit}`}`;
}

const gib = (bytes: unknown) => (typeof bytes === 'number' ? bytes / 2 ** 30 : null);

function freeGpus(accelerators: unknown): string {
  if (!Array.isArray(accelerators)) return '';
  const free = accelerators.reduce((sum: number, one: { free: number }) => sum + one.free, 0);
  return `${Math.round(free * 100) / 100}/${accelerators.length}`;
}

export const cluster = defineKind({
  kind: 'Cluster',
  plural: 'clusters',
  shortNames: ['cl'],
  scope: 'global',
  summary: 'A place where replicas run: this machine, a namespace of a Kubernetes cluster, or a Ray cluster.',
  changedBy: 'admin',
  spec,
  phases: ['Pending', 'Ready', 'Failed', 'Deleting'],
  status: {
    cpus: field(amount, { help: 'CPUs' }),
    memory_bytes: field(amount, { help: 'memory' }),
    free_cpus: field(amount, { help: 'CPUs that are not allocated' }),
    free_memory_bytes: field(amount, { help: 'memory that is not allocated' }),
    accelerators: field(list(observed), { help: 'accelerators with their free share' }),
    nodes: field(list(node), { help: 'machines of a Ray cluster' }),
    problems: field(list(written), { help: 'why accelerators may be missing from the list' }),
  },
  columns: [
    column('TYPE', 'spec.type'),
    column('PHASE', 'status.phase'),
    { title: 'FREE CPUS', value: ({ status }) => ofAll(status?.free_cpus, status?.cpus) },
    {
      title: 'FREE MEMORY',
      value: ({ status }) => ofAll(gib(status?.free_memory_bytes), gib(status?.memory_bytes), 'GiB'),
    },
    { title: 'FREE GPUS', value: ({ status }) => freeGpus(status?.accelerators) },
  ],
  example: { accelerators: [{ id: '0', product: 'NVIDIA H100', memory: '80Gi' }] },
  check({ kubernetes, ray, type }, placeOf) {
    const problems: InputError[] = [];
    for (const [name, given] of Object.entries({ kubernetes, ray })) {
      if (given === undefined || type === name) continue;
      problems.push(invalidField(placeOf(`spec.${name}`), `has no meaning for type '${type}'`, `give 'type: ${name}'`));
    }
    if (type === 'ray' && ray === undefined) {
      problems.push(
        invalidField(placeOf('spec.ray'), 'is missing', "give the dashboard, such as 'url: http://10.0.0.1:8265'"),
      );
    }
    if (ray !== undefined && portRange(ray.ports) === null) {
      problems.push(
        invalidField(placeOf('spec.ray.ports'), 'is not a range of ports', "give one such as '30000-30999'"),
      );
    }
    return problems;
  },
});
