import { describe, expect, it } from 'vitest';
import type { EndpointSlice, Pod, SliceEndpoint } from '../kube-object.js';
import { replicasInPods, replicasInSlices } from './found-replicas.js';

function pod(name: string, more: { ip?: string; ready?: string; deleted?: boolean; ports?: object[] } = {}): Pod {
  const { deleted = false, ip = '10.0.0.1', ports = [{ name: 'http', containerPort: 8000 }], ready = 'True' } = more;
  return {
    metadata: { name, namespace: 'prod', ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    spec: { containers: [{ name: 'engine', ports: ports as never }] },
    status: { podIP: ip, conditions: [{ type: 'Ready', status: ready }] },
  };
}

function slice(endpoints: SliceEndpoint[], more: Partial<EndpointSlice> = {}): EndpointSlice {
  const metadata = { name: 's', namespace: 'prod' };
  return { metadata, addressType: 'IPv4', endpoints, ports: [{ name: 'http', port: 8000 }], ...more };
}

describe('replicas in pods', () => {
  it('are those that are ready and not being deleted, ordered by id', () => {
    const pods = [
      pod('b'),
      pod('a', { ip: 'fd00::2' }),
      pod('c', { ready: 'False' }),
      pod('d', { deleted: true }),
      pod('e', { ip: '' }),
    ];
    expect(replicasInPods(pods, [])).toEqual([
      { id: 'a.prod', url: 'http://[fd00::2]:8000' },
      { id: 'b.prod', url: 'http://10.0.0.1:8000' },
    ]);
  });

  it.each([
    ['the port of a well-known name', [{ containerPort: 9000 }, { name: 'http', containerPort: 8080 }], [], ['8080']],
    ['the first port', [{ name: 'x', containerPort: 9000 }, { containerPort: 9001 }], [], ['9000']],
    ["vLLM's port without any", [], [], ['8000']],
    ['a number', [{ containerPort: 9000 }], ['7000'], ['7000']],
    ['a name, nothing where it is unknown', [{ name: 'rank', containerPort: 9000 }], ['rank', 'other'], ['9000']],
  ])('listen on %s', (_, ports, wanted, expected) => {
    const found = replicasInPods([pod('a', { ports })], wanted);
    expect(found.map(({ url }) => url.split(':').at(-1))).toEqual(expected);
  });

  it.each([
    [{ 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' }, 2, ['serve'], 'NVIDIA-H100-80GB-HBM3', 2],
    [{ 'cloud.google.com/gke-accelerator': 'nvidia-l4' }, 1, ['serve', '--tensor-parallel-size=4'], 'nvidia-l4', 4],
    [undefined, 0, ['vllm serve m -tp 8'], undefined, 8],
    [{ zone: 'a' }, 0, ['serve', '--tp-sizes', '2'], undefined, undefined],
  ])(
    'name their GPU and tensor parallelism where the pod does: %j, %i GPUs, %j',
    (nodeSelector, gpus, args, product, tp) => {
      const { spec, ...rest } = pod('a');
      const limits = gpus === 0 ? {} : { resources: { limits: { 'nvidia.com/gpu': String(gpus) } } };
      const containers = [{ ...spec.containers[0]!, args, ...limits }];
      const [found] = replicasInPods(
        [{ ...rest, spec: { containers, ...(nodeSelector && { nodeSelector }) } } as Pod],
        [],
      );
      expect([found!.product, found!.tp]).toEqual([product, tp]);
    },
  );

  it('share the GPUs of a pod with several ranks', () => {
    const { spec, ...rest } = pod('a');
    const containers = [{ ...spec.containers[0]!, resources: { limits: { 'nvidia.com/gpu': 4 } } }];
    const found = replicasInPods([{ ...rest, spec: { containers } }], ['8000', '8001']);
    expect(found.map(({ tp }) => tp)).toEqual([2, 2]);
  });

  it('are one per port where there are several', () => {
    expect(replicasInPods([pod('a')], ['8000', '8001'])).toEqual([
      { id: 'a.prod:8000', url: 'http://10.0.0.1:8000' },
      { id: 'a.prod:8001', url: 'http://10.0.0.1:8001' },
    ]);
  });
});

describe('replicas behind a Service', () => {
  const at = (address: string, conditions: SliceEndpoint['conditions'] = { ready: true }, name?: string) => ({
    addresses: [address],
    conditions,
    ...(name === undefined ? {} : { targetRef: { kind: 'Pod', name } }),
  });

  it('are those that take requests, once each', () => {
    const slices = [
      slice([at('10.0.0.1', { ready: true }, 'a'), at('10.0.0.2', { ready: false }), at('10.0.0.3', {})]),
      slice([at('10.0.0.1', { ready: true }, 'a'), at('10.0.0.4', { ready: true, serving: true, terminating: true })]),
      slice([at('example.com')], { addressType: 'FQDN' }),
      slice(null as never),
    ];
    expect(replicasInSlices(slices, [])).toEqual([
      { id: '10.0.0.3.prod', url: 'http://10.0.0.3:8000' },
      { id: 'a.prod', url: 'http://10.0.0.1:8000' },
    ]);
  });

  it('listen on the ports of the slice', () => {
    const two = slice([at('10.0.0.1')], {
      ports: [
        { name: 'm', port: 9 },
        { name: 'http', port: 8 },
      ],
    });
    const ports = (wanted: string[]) => replicasInSlices([two], wanted).map(({ url }) => url.split(':').at(-1));
    expect([ports([]), ports(['m']), ports(['m', '7']), ports(['none'])]).toEqual([['8'], ['9'], ['7', '9'], []]);
    expect(replicasInSlices([slice([at('10.0.0.1')], { ports: null })], [])).toEqual([]);
  });
});
