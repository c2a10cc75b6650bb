import { expect, test } from 'vitest';
import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { builtInEngines } from '../../resources/built-in-engines.js';
import { checkedResource } from '../../resources/check-resource.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { EngineSpec } from '../../resources/kinds/engine.js';
import { replicaId, replicaSpec, specHashOf } from './replica-template.js';

const engines = new Map(builtInEngines().map(({ metadata, spec }) => [metadata.name, spec as unknown as EngineSpec]));
const vllm = Object.values(engines.get('vllm')!.versions)[0]!;

function recordOf(change: Record<string, unknown> = {}): ResourceRecord {
  const spec = { engine: { name: 'vllm' }, model: { name: 'acme/tiny' }, ...change };
  const given = { apiVersion: 'twinyard/v1', kind: 'Endpoint', metadata: { name: 'chat' }, spec };
  const checked = checkedResource(given, (path) => path);
  return { workspace: 'default', name: 'chat', generation: 3, spec: checked.spec } as unknown as ResourceRecord;
}
const hashOf = (record: ResourceRecord, revision?: string) =>
  specHashOf({ record, engine: vllm, model: revision === undefined ? null : { path: '/m', revision, facts: {} } });

test('the hash covers what replicas are, and not their number or how they are routed', () => {
  const hash = hashOf(recordOf());
  for (const change of [
    { replicas: 7 },
    { placement: 'spread' },
    { routing: { policy: 'round-robin' } },
    { deployment: { drain_timeout_s: 1 } },
  ]) {
    expect(hashOf(recordOf(change))).toBe(hash);
  }
  const others = [
    { variables: { max_model_len: 5 } },
    { env: { A: 'b' } },
    { secret_env: { A: 'b' } },
    { resources: { gpus: 1 } },
    { cluster: 'elsewhere' },
    { model: { name: 'acme/tiny', serve_as: 'x' } },
    { model: { name: 'acme/tiny', file: 'x' } },
  ].map((change) => hashOf(recordOf(change)));
  const all = [hash, ...others, hashOf(recordOf(), 'r1'), hashOf(recordOf(), 'r2')];
  expect(new Set(all).size).toBe(all.length);
});

test('a change of an engine replaces no replica unless its command, environment or health path changes', () => {
  const record = recordOf({ variables: { max_model_len: 5 } });
  const hash = (change: object) => specHashOf({ record, engine: { ...vllm, ...change }, model: null });
  const group: ['--tp', string] = ['--tp', '{tensor_parallel}'];
  expect(hash({ command: [...vllm.command, group], load_path: '/load' })).toBe(hash({}));
  expect(hash({ command: [...vllm.command, '--new'] })).not.toBe(hash({}));
  expect(hash({ env: { A: 'b' } })).not.toBe(hash({}));
  expect(hash({ health_path: '/ping' })).not.toBe(hash({}));
});

test('the image, the pod template and patches are part of what a pod runs, and of nothing else', () => {
  const patch = { op: 'add', path: '/spec/template/spec/hostIPC', value: true } as const;
  const hash = (isPod: boolean, change: object = {}, more: Record<string, unknown> = {}) =>
    specHashOf({ record: recordOf(more), engine: { ...vllm, ...change }, model: null, isPod });
  const changes: [object, Record<string, unknown>?][] = [
    [{ images: { nvidia: 'other' } }],
    [{ pod: { hostIPC: true } }],
    [{ json_patches: [patch] }],
    [{}, { json_patches: [patch] }],
  ];
  for (const change of changes) {
    expect(hash(true, ...change)).not.toBe(hash(true));
    expect(hash(false, ...change)).toBe(hash(false));
  }
  const record = recordOf({ json_patches: [patch], model: { name: 'acme/tiny', version: 'v2' } });
  const engine = { ...vllm, pod: { hostIPC: true }, json_patches: [patch] };
  const parts = { record, spec: record.spec as unknown as EndpointSpec, engine, model: null, self: [], isPod: true };
  expect(replicaSpec('a', 'h', parts).pod).toMatchObject({
    template: { hostIPC: true },
    values: { hub_model: 'acme/tiny', hub_revision: 'v2' },
    patches: [{ by: 'engine', owner: "engine 'vllm'", operations: [patch] }, { by: 'endpoint' }],
  });
  expect(replicaSpec('a', 'h', { ...parts, isPod: false })).not.toHaveProperty('pod');
});

test('llama.cpp downloads a model without a registry, and loads a file otherwise', () => {
  const engine = engines.get('llama-cpp')!.versions['v0.5.0']!;
  const argsOf = (model: object, fetched = false) => {
    const record = recordOf({ model });
    const found = fetched ? { path: '/cache/tiny/q4.gguf', revision: 'r', facts: {} } : null;
    const parts = { record, spec: record.spec as unknown as EndpointSpec, engine, model: found, self: [] };
    return replicaSpec('a', 'h', parts).args.slice(0, 4);
  };
  expect(argsOf({ name: 'acme/tiny:Q4_K_M' })).toEqual(['--hf-repo', 'acme/tiny:Q4_K_M', '--host', '{{host}}']);
  expect(argsOf({ name: 'acme/tiny', file: 'q4.gguf' })).toEqual(['--hf-repo', 'acme/tiny', '--hf-file', 'q4.gguf']);
  expect(argsOf({ name: '/models/q4.gguf' })).toEqual(['--model', '/models/q4.gguf', '--host', '{{host}}']);
  expect(argsOf({ name: 'acme/tiny', file: 'q4.gguf' }, true)).toEqual([
    ...['--model', '/cache/tiny/q4.gguf', '--host', '{{host}}'],
  ]);
});

test('the order of keys does not change the hash', () => {
  expect(hashOf(recordOf({ env: { A: '1', B: '2' } }))).toBe(hashOf(recordOf({ env: { B: '2', A: '1' } })));
});

test.each([
  [{ gpus: 2 }, ['--tensor-parallel-size', '2']],
  [{ gpus: 0.25 }, ['--gpu-memory-utilization', '0.25']],
])('resources %j reach the engine', (resources, flags) => {
  const record = recordOf({ resources: { ...resources, cpu: 2, memory: '1Gi', product: 'H100' }, placement: 'spread' });
  const model = { path: '/models/tiny', revision: 'r', facts: {} };
  const spec = record.spec as EndpointSpec;
  const replica = replicaSpec('chat-1', 'h', { record, spec, engine: vllm, model, self: [] });
  expect(replica).toMatchObject({
    command: 'vllm',
    args: expect.arrayContaining(['/models/tiny', '{{host}}', '{{port}}', ...flags]),
    resources: { ...resources, cpu: 2, memoryBytes: 2 ** 30, product: 'H100' },
    placement: 'spread',
    generation: 3,
  });
});

test('replica ids are valid for endpoint names of any length', () => {
  const long = replicaId({ name: 'x'.repeat(63), workspace: 'team' }, '0123abcd');
  expect(long).toMatch(/^team-x+-0123abcd$/);
  expect(long.length).toBeLessThanOrEqual(63);
  expect(replicaId({ name: 'chat', workspace: 'default' }, 'ab')).toBe('chat-ab');
});
