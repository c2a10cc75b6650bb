import { expect, test } from 'vitest';
import { clusterCapacity, type KubeNodeRoom } from './cluster-capacity.js';
import { unfit } from './node-fit.js';
import { podDemand } from './pod-demand.js';

const GIB = 2 ** 30;
const node = (name: string, gpus: number, used: number, labels: Record<string, string> = {}): KubeNodeRoom => ({
  ...{ name, labels },
  has: { cpu: 64, memory: 512 * GIB, 'nvidia.com/gpu': gpus },
  used: { cpu: 4, memory: 12 * GIB, 'nvidia.com/gpu': used },
});
const H100 = { 'nvidia.com/gpu.product': 'H100', 'nvidia.com/gpu.memory': '81559' };
const room = { nodes: [node('a', 8, 6, H100), node('b', 4, 0)], problems: [] };

test('what is free is what nodes have without what pods on them request', () => {
  const { free, gpus } = clusterCapacity(room, { gpuResource: 'nvidia.com/gpu' }, undefined);
  expect([free.cpus, free.memoryBytes / GIB]).toEqual([120, 1000]);
  expect(gpus).toHaveLength(12);
  expect(gpus[0]).toEqual({ id: 'a/0', product: 'H100', memoryMiB: 81559 });
  expect(free.gpus.map((one) => one.free)).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
});

test('a pod demands the sum of its containers, or the largest that runs before them', () => {
  const container = (cpu: string, more: object = {}) => ({ name: cpu, resources: { requests: { cpu } }, ...more });
  const spec = {
    initContainers: [container('3'), container('500m', { restartPolicy: 'Always' })],
    containers: [container('1'), { name: 'x', resources: { limits: { 'nvidia.com/gpu': '2' } } }],
    overhead: { cpu: '250m' },
  };
  expect(podDemand({ spec })).toEqual({ cpu: 3, 'nvidia.com/gpu': 2 });
  expect(podDemand({ spec: { ...spec, initContainers: [] } })).toEqual({ cpu: 1.25, 'nvidia.com/gpu': 2 });
});

const resources = { cpu: null, memoryBytes: null, gpus: 16, product: null };
const refusal = (requests: Record<string, string>, nodeSelector: Record<string, string> = {}, given = room) =>
  unfit({ requests, nodeSelector }, resources, given, 'nvidia.com/gpu')?.message ?? null;

test('a replica that no node could run is refused with the numbers', () => {
  expect(refusal({ 'nvidia.com/gpu': '16' })).toBe(
    'does not fit: it needs 16 of nvidia.com/gpu on one node; the largest node, a, has 8 (2 free), all 2 together 12 (6 free)',
  );
  expect(refusal({ memory: String(1024 * GIB) })).toContain('it needs 1048576 MiB of memory on one node');
  expect(refusal({ 'nvidia.com/gpu': '1' }, { 'nvidia.com/gpu.product': 'B200' })).toBe(
    'does not fit: it needs 1 of nvidia.com/gpu on one node; there is no node with nvidia.com/gpu.product=B200',
  );
  expect(refusal({}, { 'nvidia.com/gpu.product': 'B200' })).toBe(
    'does not fit: there is no node with nvidia.com/gpu.product=B200',
  );
  // Each is there, on different nodes.
  expect(refusal({ 'nvidia.com/gpu': '8', pods: '1' })).toContain('it needs 1 of pods');
});

test('a replica waits where it could fit once others have ended, and where nodes may not be read', () => {
  expect(refusal({ 'nvidia.com/gpu': '8', cpu: '64' })).toBeNull();
  expect(
    unfit({ requests: { cpu: '999' }, nodeSelector: {} }, resources, { nodes: null, problems: [] }, 'x'),
  ).toBeNull();
});
