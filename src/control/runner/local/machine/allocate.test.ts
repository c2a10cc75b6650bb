import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Gpu, GpuShare, ReplicaResources } from '../../contract.js';
import { NoRoom } from '../../errors.js';
import { gpuDemand } from '../../gpu-demand.js';
import { type Allocation, allocate, freeOf, type Machine } from './allocate.js';
import { allocateGpus, freeShares } from './allocate-gpus.js';

const H100 = 'NVIDIA H100 80GB HBM3';
const L4 = 'NVIDIA L4';
const L40 = 'NVIDIA L40';

const gpusOf = (...products: string[]): Gpu[] =>
  products.map((product, i) => ({ id: String(i), product, memoryMiB: 1024 }));
const demand = (gpus: number, product: string | null = null): ReplicaResources => ({
  ...{ cpu: null, memoryBytes: null },
  ...{ gpus, product },
});
const ids = (shares: readonly GpuShare[] | null) => shares?.map(({ id }) => id) ?? null;

describe('a number of GPUs', () => {
  test('is a share of one GPU, or a whole number', () => {
    expect(gpuDemand(0)).toEqual({ devices: 0, memoryFraction: 0 });
    expect(gpuDemand(0.25)).toEqual({ devices: 1, memoryFraction: 0.25 });
    expect(gpuDemand(4)).toEqual({ devices: 4, memoryFraction: 1 });
  });

  test.each([1.5, -1, Number.NaN, Number.POSITIVE_INFINITY])('cannot be %s', (gpus) => {
    expect(() => gpuDemand(gpus)).toThrow(expect.objectContaining({ code: 'RUNNER_GPUS' }));
  });
});

describe('GPUs', () => {
  test('are packed: a share goes to the fullest GPU with room', () => {
    const held = [
      { id: '1', share: 0.25 },
      { id: '2', share: 0.5 },
    ];
    const gpus = gpusOf(H100, H100, H100);
    expect(allocateGpus(gpus, held, demand(0.5))).toEqual([{ id: '2', share: 0.5, product: H100 }]);
    expect(ids(allocateGpus(gpus, held, demand(0.6)))).toEqual(['1']);
    expect(ids(allocateGpus(gpus, held, demand(0.8)))).toEqual(['0']);
  });

  test('are spread: a share goes to the GPU with the most left', () => {
    const held = [
      { id: '0', share: 0.5 },
      { id: '1', share: 0.25 },
    ];
    const spread = (gpus: number) => ({ ...demand(gpus), placement: 'spread' as const });
    expect(ids(allocateGpus(gpusOf(H100, H100, H100), held, spread(0.25)))).toEqual(['2']);
    expect(ids(allocateGpus(gpusOf(H100, H100), held, spread(0.25)))).toEqual(['1']);
    expect(ids(allocateGpus(gpusOf(H100, L4, H100, L4, H100), [], spread(1)))).toEqual(['0']);
    const machine = { cpus: 1, memoryBytes: 1, gpus: gpusOf(H100, H100) };
    expect(ids(allocate(machine, [{ resources: demand(0.5), gpus: [held[0]!] }], demand(0.5), 'spread').gpus)).toEqual([
      '1',
    ]);
  });

  test('for one replica are of one product, the one with the fewest free', () => {
    const gpus = gpusOf(H100, L4, H100, L4, H100, L40);
    expect(ids(allocateGpus(gpus, [], demand(2)))).toEqual(['1', '3']);
    expect(ids(allocateGpus(gpus, [], demand(3)))).toEqual(['0', '2', '4']);
    expect(allocateGpus(gpus, [], demand(4))).toBeNull();
    expect(ids(allocateGpus(gpus, [{ id: '1', share: 0.1 }], demand(2)))).toEqual(['0', '2']);
  });

  test.each([
    ['H100', ['0']],
    ['nvidia h100', ['0']],
    [H100, ['0']],
    ['L4', ['1']],
    ['L40', ['2']],
    ['A100', null],
  ])('of the product %s are %j', (product, expected) => {
    expect(ids(allocateGpus(gpusOf(H100, L4, L40), [], demand(1, product)))).toEqual(expected);
  });

  test('can be filled by ten tenths and by three thirds', () => {
    const gpus = gpusOf(L4);
    for (const parts of [10, 3, 7]) {
      const held: GpuShare[] = [];
      for (let i = 0; i < parts; i++) held.push(...allocateGpus(gpus, held, demand(1 / parts))!);
      expect(allocateGpus(gpus, held, demand(1 / parts))).toBeNull();
    }
  });

  test('that do not exist any more are ignored', () => {
    expect(freeShares(gpusOf(L4), [{ id: '7', share: 1 }])).toEqual([1]);
  });
});

/** Replicas start and stop; some do not fit. */
const story = fc.record({
  gpus: fc.array(fc.constantFrom(H100, L4, L40), { maxLength: 6 }).map((products) => gpusOf(...products)),
  steps: fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ gpus: fc.oneof(fc.integer({ min: 0, max: 4 }), share()), product: product() }),
      },
      { weight: 2, arbitrary: fc.record({ leaves: fc.nat() }) },
    ),
    { maxLength: 40 },
  ),
});
function share() {
  return fc.oneof(fc.constantFrom(0.1, 0.25, 1 / 3, 0.5, 0.9), fc.double({ min: 1e-7, max: 0.999, noNaN: true }));
}
function product() {
  return fc.constantFrom(null, 'H100', 'L4', 'NVIDIA');
}

describe('any order of starts and stops', () => {
  test('assigns no GPU twice, packs shares, and refuses nothing that fits', () => {
    fc.assert(
      fc.property(story, ({ gpus, steps }) => {
        const replicas: GpuShare[][] = [];
        for (const step of steps) {
          if ('leaves' in step) {
            replicas.splice(step.leaves % Math.max(1, replicas.length), 1);
            continue;
          }
          const held = replicas.flat();
          const free = freeShares(gpus, held);
          const given = allocateGpus(gpus, held, step);
          expect(allocateGpus(gpus, held, step)).toEqual(given);
          checkGiven(gpus, free, step, given);
          if (given !== null) replicas.push(given);
          for (const left of freeShares(gpus, replicas.flat())) expect(left).toBeGreaterThanOrEqual(0);
          const sums = gpus.map(({ id }) =>
            replicas.flat().reduce((sum, one) => sum + (one.id === id ? Math.round(one.share * 1e6) : 0), 0),
          );
          for (const sum of sums) expect(sum).toBeLessThanOrEqual(1e6);
        }
        expect(freeShares(gpus, [])).toEqual(gpus.map(() => 1));
      }),
    );
  });
});

function checkGiven(
  gpus: readonly Gpu[],
  free: readonly number[],
  { gpus: wanted, product }: Pick<ReplicaResources, 'gpus' | 'product'>,
  given: GpuShare[] | null,
): void {
  const fits = gpus.map((gpu) => product === null || gpu.product.split(' ').includes(product));
  const wanting = Math.max(1e-6, Math.round(wanted * 1e6) / 1e6);
  if (wanted > 0 && wanted < 1) {
    const fitting = free.filter((left, i) => fits[i] && left >= wanting);
    if (given === null) expect(fitting).toEqual([]);
    else expect([given.length, free[Number(given[0]!.id)]]).toEqual([1, Math.min(...fitting)]);
  } else if (given === null) {
    const kinds = [H100, L4, L40].map((kind) =>
      gpus.filter((gpu, i) => fits[i] && free[i] === 1 && gpu.product === kind),
    );
    for (const kind of kinds) expect(kind.length).toBeLessThan(wanted);
  } else {
    expect(new Set(ids(given)).size).toBe(wanted);
    expect(new Set(given.map(({ id }) => gpus[Number(id)]!.product)).size).toBe(Math.min(1, wanted));
    for (const { id, share } of given) expect([share, free[Number(id)], fits[Number(id)]]).toEqual([1, 1, true]);
  }
}

describe('a machine', () => {
  const machine: Machine = { cpus: 1, memoryBytes: 4 * 1024 ** 2, gpus: gpusOf(L4, L4) };
  const cpu = (cpus: number): ReplicaResources => ({ ...demand(0), cpu: cpus });

  test('counts CPUs and memory as well', () => {
    const held: Allocation[] = [];
    for (let i = 0; i < 10; i++) held.push(allocate(machine, held, cpu(0.1)));
    expect(freeOf(machine, held)).toMatchObject({ cpus: 0, memoryBytes: machine.memoryBytes });
    expect(() => allocate(machine, held, cpu(0.1))).toThrow('does not fit: it needs 0.1 CPUs; free: 0');
    expect(allocate(machine, held, demand(0))).toEqual({ resources: demand(0), gpus: [] });
    const memory = { ...demand(0), memoryBytes: 3 * 1024 ** 2 };
    const other = [allocate(machine, [], memory)];
    expect(() => allocate(machine, other, memory)).toThrow('it needs 3 MiB of memory; free: 1 MiB');
  });

  test('that has become smaller has nothing left', () => {
    const held = [{ resources: { ...cpu(4), memoryBytes: 1024 ** 4 }, gpus: [] }];
    expect(freeOf(machine, held)).toMatchObject({ cpus: 0, memoryBytes: 0 });
  });

  test('reports what is free when something does not fit', () => {
    const held = [allocate(machine, [], demand(0.5))];
    const refusal = (resources: ReplicaResources, on = machine) => {
      try {
        return expect.unreachable(`${allocate(on, held, resources)}`);
      } catch (error) {
        return error as NoRoom;
      }
    };
    const error = refusal(demand(2));
    expect(error).toBeInstanceOf(NoRoom);
    expect(error).toMatchObject({ code: 'RUNNER_NO_ROOM', lacks: 'gpus', requested: demand(2) });
    expect(error.free.gpus).toEqual([
      { ...machine.gpus[0], free: 0.5 },
      { ...machine.gpus[1], free: 1 },
    ]);
    expect(error.message).toBe(
      'does not fit: it needs 2 GPUs of one product; free: 0.5 of GPU 0 (NVIDIA L4), 1 of GPU 1 (NVIDIA L4)',
    );
    expect(refusal(demand(1, 'H100')).message).toMatch(/^does not fit: it needs 1 GPU \(H100\); free: 0.5 of/);
    expect(refusal(demand(0.5), { ...machine, gpus: [] }).message).toMatch(/free: there is no GPU$/);
  });
});
