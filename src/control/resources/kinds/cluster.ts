import * as v from 'valibot';
import { choice, field, list, number, required, section, text, type Value } from '../../../schema/fields.js';
import { RUNNER_TYPES } from '../../runner/registry.js';
import { column, defineKind } from '../kind.js';
import { description, memory, written } from '../parts.js';

const accelerator = section('Accelerator', {
  id: required(text(100), { help: 'id as in CUDA_VISIBLE_DEVICES' }),
  product: required(text(), { help: "product name, such as 'NVIDIA H100'" }),
  memory: field(memory, { help: 'memory of the device' }),
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

export const cluster = defineKind({
  kind: 'Cluster',
  plural: 'clusters',
  shortNames: ['cl'],
  scope: 'global',
  summary: 'A place where replicas run: this machine with its CPUs and accelerators.',
  changedBy: 'admin',
  spec,
  phases: ['Pending', 'Ready', 'Failed', 'Deleting'],
  status: {
    cpus: field(amount, { help: 'CPUs' }),
    memory_bytes: field(amount, { help: 'memory' }),
    free_cpus: field(amount, { help: 'CPUs that are not allocated' }),
    free_memory_bytes: field(amount, { help: 'memory that is not allocated' }),
    accelerators: field(list(observed), { help: 'accelerators with their free share' }),
    problems: field(list(written), { help: 'why accelerators may be missing from the list' }),
  },
  columns: [
    column('TYPE', 'spec.type'),
    column('PHASE', 'status.phase'),
    column('CPUS', 'status.cpus'),
    { title: 'GPUS', value: ({ status }) => String((status?.accelerators as unknown[] | undefined)?.length ?? '') },
  ],
  example: { accelerators: [{ id: '0', product: 'NVIDIA H100', memory: '80Gi' }] },
});
