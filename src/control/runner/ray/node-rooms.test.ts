import { describe, expect, test } from 'vitest';
import type { RayNode } from '../../../ray/ray-nodes.js';
import type { ReplicaResources } from '../contract.js';
import { type HeldResources, nodeRooms, placeReplica, rayCapacity, reportedGpus } from './node-rooms.js';

const node = (id: string, address: string, change: Partial<RayNode> = {}): RayNode => ({
  ...{ id, address, cpus: 8, memoryBytes: 2 ** 33, gpus: 2, product: 'H100', productResource: null },
  ...change,
});
const NODES = [node('n1', '10.0.0.1'), node('n2', '10.0.0.2', { gpus: 4, product: 'NVIDIA L4' })];
const wants = (change: Partial<ReplicaResources>): ReplicaResources => ({
  ...{ cpu: null, memoryBytes: null, gpus: 0, product: null },
  ...change,
});
const used = (at: number, gpus: Record<string, number>) => ({
  at,
  byNode: new Map(Object.entries(gpus).map(([id, count]) => [id, { cpus: 0, memoryBytes: 0, gpus: count }])),
});
const held = (nodeId: string, gpu: string, share: number, endedAt: number | null = null): HeldResources => ({
  ...{ nodeId, resources: wants({ gpus: share }), gpus: [{ id: gpu, share }], endedAt },
});
const free = (rooms: ReturnType<typeof nodeRooms>) => rayCapacity(rooms).free.gpus.map((gpu) => [gpu.id, gpu.free]);
const NOTHING = used(0, {});

describe('what is free', () => {
  test('is listed by node and device with its product', () => {
    expect(rayCapacity(nodeRooms(NODES, NOTHING, []))).toMatchObject({
      cpus: 16,
      memoryBytes: 2 ** 34,
      gpus: [
        { id: '10.0.0.1/0', product: 'H100' },
        { id: '10.0.0.1/1', product: 'H100' },
        ...[0, 1, 2, 3].map((i) => ({ id: `10.0.0.2/${i}`, product: 'NVIDIA L4' })),
      ],
      nodes: [
        { name: '10.0.0.1', cpus: 8, freeCpus: 8, gpus: 2, freeGpus: 2, product: 'H100' },
        { name: '10.0.0.2', gpus: 4, freeGpus: 4, product: 'NVIDIA L4' },
      ],
      problems: [],
    });
    const same = [node('abcdefghij', '10.0.0.1', { gpus: 1 }), node('b', '10.0.0.1', { gpus: 1, product: null })];
    expect(rayCapacity(nodeRooms(same, NOTHING, [])).gpus).toEqual([
      { id: '10.0.0.1-abcdefgh/0', product: 'H100', memoryMiB: null },
      { id: '10.0.0.1-b/0', product: 'GPU', memoryMiB: null },
    ]);
  });

  test('does not include what other programs use', () => {
    const rooms = nodeRooms(NODES.slice(0, 1), used(5000, { n1: 1.25 }), [held('n1', '10.0.0.1/0', 0.5)]);
    expect(free(rooms)).toEqual([
      ['10.0.0.1/0', 0.5],
      ['10.0.0.1/1', 0.25],
    ]);
    expect(rayCapacity(rooms).nodes).toMatchObject([{ gpus: 2, freeGpus: 0.75 }]);
  });

  test('does not count a replica that has ended as the use of others until Ray has released it', () => {
    const gone = [held('n1', '10.0.0.1/0', 1, 10_000)];
    expect(free(nodeRooms(NODES.slice(0, 1), used(9000, { n1: 1 }), gone)).map((one) => one[1])).toEqual([1, 1]);
    expect(free(nodeRooms(NODES.slice(0, 1), used(15_000, { n1: 1 }), gone)).map((one) => one[1])).toEqual([1, 0]);
  });

  test('is limited to declared accelerators, with their product and memory', () => {
    const declared = [
      { id: '10.0.0.1/1', product: 'NVIDIA H100 80GB', memoryMiB: 81_559 },
      { id: '10.0.0.9/0', product: 'A100', memoryMiB: null },
    ];
    const rooms = nodeRooms(NODES, NOTHING, [], declared);
    const { free, problems } = rayCapacity(rooms, declared);
    expect(free.gpus).toEqual(declared.map((gpu) => ({ ...gpu, free: 1 })));
    expect(problems).toEqual(["accelerator '10.0.0.9/0' is on no live node"]);
    expect(placeReplica(rooms, wants({ gpus: 1 }), 'pack').gpus).toEqual([
      { id: '10.0.0.1/1', share: 1, product: 'NVIDIA H100 80GB' },
    ]);
  });
});

describe('placement', () => {
  const place = (
    change: Partial<ReplicaResources>,
    placement: 'pack' | 'spread' = 'pack',
    taken: HeldResources[] = [],
  ) => placeReplica(nodeRooms(NODES, NOTHING, taken), wants(change), placement).node.id;

  test('packs GPUs on the node with the fewest left, or spreads them', () => {
    expect(place({ gpus: 1 })).toBe('n1');
    expect(place({ gpus: 1 }, 'spread')).toBe('n2');
    expect(place({ gpus: 0.25 }, 'pack', [held('n2', '10.0.0.2/0', 0.5)])).toBe('n1');
  });

  test('keeps all GPUs of a tensor-parallel replica on one node', () => {
    expect(place({ gpus: 3 })).toBe('n2');
    expect(() => place({ gpus: 5 })).toThrow(
      'it needs 5 GPUs of one product on one node; free: 1 of GPU 10.0.0.1/0 (H100)',
    );
  });

  test('takes a product by its words', () => {
    expect(place({ gpus: 1, product: 'L4' })).toBe('n2');
    expect(() => place({ gpus: 1, product: 'A100' })).toThrow('it needs 1 GPU (A100) on one node');
  });

  test('says what no node has enough of', () => {
    expect(() => place({ cpu: 9 })).toThrow('it needs 9 CPUs on one node; free: 8');
    expect(() => place({ memoryBytes: 2 ** 34 })).toThrow('it needs 16384 MiB of memory on one node; free: 8192 MiB');
  });

  test('spreads replicas without GPUs', () => {
    expect(place({}, 'pack', [held('n1', '10.0.0.1/0', 0.5)])).toBe('n2');
  });
});

test('names the devices that Ray has chosen', () => {
  const planned = [
    { id: '10.0.0.1/0', share: 1 },
    { id: '10.0.0.1/1', share: 1 },
  ];
  expect(reportedGpus(planned, '3,2').map(({ id }) => id)).toEqual(['10.0.0.1/3', '10.0.0.1/2']);
  for (const devices of [undefined, '', '1', 'GPU-a,GPU-b']) expect(reportedGpus(planned, devices)).toEqual(planned);
});
