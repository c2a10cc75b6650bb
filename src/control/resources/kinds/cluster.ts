import { z } from 'zod';
import { RUNNER_TYPES } from '../../runner/registry.js';
import { column, defineKind } from '../kind.js';
import { memory, text } from '../parts.js';

const accelerator = z.strictObject({
  id: z.string().min(1).max(100).describe('As CUDA_VISIBLE_DEVICES names it'),
  product: text.min(1).describe("Such as 'NVIDIA H100'"),
  memory: memory.optional(),
});

const spec = z.strictObject({
  type: z
    .enum(RUNNER_TYPES.map(({ name }) => name) as [string, ...string[]])
    .default('local')
    .describe(`What runs the replicas: ${RUNNER_TYPES.map(({ name, summary }) => `${name}: ${summary}`).join('; ')}`),
  accelerators: z.array(accelerator).optional().describe('Those there are; without it they are looked for'),
  description: text.default(''),
});

export type ClusterSpec = z.output<typeof spec>;

const free = z.strictObject({
  id: z.string(),
  product: z.string(),
  memory_mib: z.number().nullable(),
  free: z.number(),
});

export const cluster = defineKind({
  kind: 'Cluster',
  plural: 'clusters',
  shortNames: ['cl'],
  scope: 'global',
  summary: 'Where replicas run: this machine, with its processors and accelerators.',
  changedBy: 'admin',
  spec,
  phases: ['Pending', 'Ready', 'Failed', 'Deleting'],
  status: {
    cpus: z.number().min(0).optional(),
    memory_bytes: z.number().min(0).optional(),
    free_cpus: z.number().min(0).optional(),
    free_memory_bytes: z.number().min(0).optional(),
    accelerators: z.array(free).optional().describe('Each with the share that nobody has been given'),
    problems: z.array(z.string()).optional().describe('Why there may be more than is listed'),
  },
  columns: [
    column('TYPE', 'spec.type'),
    column('PHASE', 'status.phase'),
    column('CPUS', 'status.cpus'),
    { title: 'GPUS', value: ({ status }) => String((status?.accelerators as unknown[] | undefined)?.length ?? '') },
  ],
  example: { accelerators: [{ id: '0', product: 'NVIDIA H100', memory: '80Gi' }] },
});
