import { describe, expect, test } from 'vitest';
import type { GpuShare, ReplicaResources } from '../../runner/contract.js';
import { replicaHardware } from './replica-hardware.js';

const VLLM = { command: ['vllm', 'serve'], parameters: {} };
const EMULATOR = { command: ['{self...}', 'engine'], parameters: {} };
const resources = (gpus: number, product: string | null = null): ReplicaResources => ({
  ...{ cpu: null, memoryBytes: null, gpus, product },
});
const spec = (gpus: number, variables: Record<string, string | number> = {}, product?: string) =>
  ({ resources: { gpus, ...(product === undefined ? {} : { product }) }, variables }) as never;
const H100: GpuShare = { id: '0', share: 1, product: 'NVIDIA H100 80GB HBM3' };

describe('what a replica runs on', () => {
  test.each([
    ['the GPUs that its runner gave it', [H100, H100], resources(2), spec(2), { hardware: 'H100', tp: 2 }],
    ['the product that its pod had to have', [], resources(1, 'NVIDIA-L4'), spec(1), { hardware: 'L4', tp: 1 }],
    ['the product of its endpoint', undefined, undefined, spec(1, {}, 'NVIDIA H200'), { hardware: 'H200', tp: 1 }],
    ['a share of a GPU', [{ ...H100, share: 0.5 }], resources(0.5), spec(0.5), { hardware: 'H100', tp: 1 }],
    [
      'fewer GPUs than it has',
      [H100],
      resources(4),
      spec(4, { pipeline_parallel_size: 2 }),
      { hardware: 'H100', tp: 2 },
    ],
    ['what a variable says', [H100], resources(4), spec(4, { tensor_parallel_size: 4 }), { hardware: 'H100', tp: 4 }],
    ['no GPU', [], resources(0), spec(0), {}],
    [
      'a GPU whose product Ray does not know',
      [{ id: 'n/0', share: 1, product: 'GPU' }],
      resources(1),
      spec(1),
      { tp: 1 },
    ],
  ] as const)('is %s', (_, gpus, given, endpoint, expected) => {
    const observed = { ...(gpus && { gpus }), ...(given && { resources: given }) };
    expect(replicaHardware(observed, endpoint, VLLM)).toEqual(expected);
  });

  test('is what the variables of an emulated engine name', () => {
    expect(replicaHardware({}, spec(0, { hardware: 'H100', tp: 2 }), EMULATOR)).toEqual({ hardware: 'H100', tp: 2 });
    expect(replicaHardware({}, spec(0), EMULATOR)).toEqual({});
  });
});
