import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ClusterCapacity, Runner } from '../../runner/contract.js';
import { oneCluster } from '../../runner/errors.js';
import { localType } from '../../runner/local/local-type.js';
import { FakePlane } from '../fake-plane.fixture.js';
import { ClusterReconciler } from './cluster-reconciler.js';
import { DeclaredReconciler } from './declared-reconciler.js';
import { ExternalEndpointReconciler } from './external-endpoint-reconciler.js';
import { ModelRegistryReconciler } from './model-registry-reconciler.js';

const resource = (kind: string, name: string, spec: string) =>
  `apiVersion: twinyard/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const ref = (kind: string, name: string, workspace = 'default') => ({ kind, workspace, name });

test.each([
  ['Engine', '{versions: {v1: {tasks: [text-generation], command: [x], metrics: vllm}}}'],
  ['Workspace', '{}'],
] as const)('%s is ready when it is stored, and removed when it is deleted', async (kind, spec) => {
  const plane = await FakePlane.open();
  const { store } = plane;
  const [name, workspace] = ['mine', ''];
  await plane.apply(resource(kind, name, spec));
  const reconciler = new DeclaredReconciler(kind, store);
  expect(await reconciler.reconcile(ref(kind, name, workspace))).toBeNull();
  expect((await store.get(ref(kind, name, workspace)))!.status).toMatchObject({
    phase: 'Ready',
    observed_generation: 1,
  });
  await store.delete('alice', ref(kind, name, workspace));
  await reconciler.reconcile(ref(kind, name, workspace));
  expect(await store.get(ref(kind, name, workspace))).toBeNull();
  await reconciler.reconcile(ref(kind, name, workspace));
});

test('a registry is connected or reports why not, and is checked again with a back-off while it fails', async () => {
  const plane = await FakePlane.open();
  const { store } = plane;
  const reconciler = new ModelRegistryReconciler(store);
  const shelf = ref('ModelRegistry', 'shelf');
  const models = join(plane.folder, 'shelf');
  await plane.apply(resource('ModelRegistry', 'shelf', `{type: file, url: 'file://${models}'}`));
  expect([await reconciler.reconcile(shelf), await reconciler.reconcile(shelf)]).toEqual([1000, 2000]);
  expect((await store.get(shelf))!.status).toMatchObject({
    phase: 'Failed',
    message: expect.stringContaining('shelf'),
  });
  mkdirSync(models);
  expect(await reconciler.reconcile(shelf)).toBe(60_000);
  expect((await store.get(shelf))!.status).toMatchObject({ phase: 'Connected', message: '', models: 0 });
  expect((await store.events.list(shelf)).map(({ message, reason, type }) => [type, reason, message])).toEqual([
    ['normal', 'Connected', 'the registry lists 0 models'],
    ['warning', 'Failed', expect.stringContaining('shelf')],
  ]);
  // Another reason is a new event, the same one is not.
  rmSync(models, { recursive: true });
  await reconciler.reconcile(shelf);
  await plane.apply(resource('ModelRegistry', 'shelf', `{type: file, url: 'file://${models}-2'}`));
  await reconciler.reconcile(shelf);
  await reconciler.reconcile(shelf);
  expect((await store.events.list(shelf)).map(({ count, reason }) => [reason, count])).toEqual([
    ['Failed', 1],
    ['Failed', 2],
    ['Connected', 1],
  ]);
  await store.delete('alice', shelf);
  expect(await reconciler.reconcile(shelf)).toBeNull();
  expect([await store.get(shelf), await reconciler.reconcile(shelf)]).toEqual([null, null]);
});

test('a hub that cannot be reached is reported with its address', async () => {
  const plane = await FakePlane.open();
  await plane.apply(resource('ModelRegistry', 'hub', "{type: hugging-face, url: 'http://127.0.0.1:1', token: hush}"));
  const hub = ref('ModelRegistry', 'hub');
  const reconciler = new ModelRegistryReconciler(plane.store);
  await reconciler.reconcile(hub);
  const { status } = (await plane.store.get(hub))!;
  expect(status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('127.0.0.1:1') });
  expect(JSON.stringify(status)).not.toContain('hush');
  reconciler.close();
  await expect(reconciler.reconcile(hub)).rejects.toThrow('the control plane is closing');
});

test('a Ray cluster is opened with its token, which is stored encrypted and never shown', async () => {
  const plane = await FakePlane.open();
  const seen: unknown[] = [];
  const node = { name: '10.0.0.1', cpus: 8, freeCpus: 6, memoryBytes: 64, freeMemoryBytes: 32 };
  const capacity: ClusterCapacity = {
    ...{ cpus: 8, memoryBytes: 64, gpus: [], problems: [], free: { cpus: 6, memoryBytes: 32, gpus: [] } },
    limits: { cpu: 'none', memory: 'none', gpus: 'none' },
    nodes: [{ ...node, gpus: 2, freeGpus: 1.5, product: 'H100' }],
  };
  const reconciler = new ClusterReconciler({
    store: plane.store,
    runners: {
      typeOf: () => null,
      async use(cluster, type, settings) {
        seen.push(cluster, type, settings);
        return { discover: async () => capacity } as Runner;
      },
      drop: async () => {},
    },
    freed: () => {},
    opened: async () => {},
  });
  const ray = '{url: http://10.0.0.1:8265, token: hush-hush-hush, node_addresses: {10.0.0.1: 192.0.2.1}}';
  await plane.apply(resource('Cluster', 'machines', `{type: ray, ray: ${ray}}`));
  await reconciler.reconcile(ref('Cluster', 'machines', ''));
  expect(seen).toEqual([
    ...['machines', 'ray'],
    {
      ray: {
        ...{ url: 'http://10.0.0.1:8265', token: 'hush-hush-hush', caFile: null, ports: [30_000, 30_999] },
        nodeAddresses: { '10.0.0.1': '192.0.2.1' },
      },
    },
  ]);
  const shown = await plane.store.get(ref('Cluster', 'machines', ''));
  expect(JSON.stringify(shown)).not.toContain('hush-hush-hush');
  expect(shown!.status).toMatchObject({ nodes: [{ name: '10.0.0.1', free_cpus: 6, gpus: 2, free_gpus: 1.5 }] });
});

test('a cluster reports its capacity and what is free, with declared accelerators instead of found ones', async () => {
  const plane = await FakePlane.open();
  const { store } = plane;
  const machine = { gpus: [] as readonly { id: string; product: string; memoryMiB: number | null }[] };
  let freed = 0;
  let opened = 0;
  const discover = async (): Promise<ClusterCapacity> => ({
    ...{ cpus: 8, memoryBytes: 64, gpus: machine.gpus, problems: ['no driver'] },
    free: { cpus: 6, memoryBytes: 32, gpus: machine.gpus.map((gpu) => ({ ...gpu, free: 0.5 })) },
    limits: { cpu: 'none', memory: 'none', gpus: 'none' },
  });
  const open = new Set<string>();
  const reconciler = new ClusterReconciler({
    store,
    runners: {
      typeOf: (cluster) => (open.has(cluster) ? localType : null),
      async use(cluster, type, { gpus = [] }) {
        if (cluster !== 'local') throw oneCluster(cluster, type, 'local');
        open.add(cluster);
        machine.gpus = gpus;
        return { discover } as Runner;
      },
      drop: async () => {},
    },
    freed: () => freed++,
    opened: async () => {
      opened++;
    },
  });
  const local = ref('Cluster', 'local', '');
  expect(await reconciler.reconcile(local)).toBe(30_000);
  const accelerators = "accelerators: [{id: '0', product: NVIDIA L4, memory: 24Gi}, {id: '1', product: NVIDIA L4}]";
  await plane.apply(resource('Cluster', 'local', `{${accelerators}}`));
  await reconciler.reconcile(local);
  expect((await store.get(local))!.status).toMatchObject({
    ...{ phase: 'Ready', observed_generation: 2, cpus: 8, free_cpus: 6, memory_bytes: 64, free_memory_bytes: 32 },
    accelerators: [
      { id: '0', product: 'NVIDIA L4', memory_mib: 24_576, free: 0.5 },
      { id: '1', memory_mib: null },
    ],
    problems: ['no driver'],
  });
  expect([freed, opened]).toEqual([2, 1]);
  await reconciler.reconcile(local);
  expect([freed, opened]).toEqual([2, 1]);
  await plane.apply(resource('Cluster', 'other', '{}'));
  expect(await reconciler.reconcile(ref('Cluster', 'other', ''))).toBeNull();
  expect((await store.get(ref('Cluster', 'other', '')))!.status).toMatchObject({
    phase: 'Failed',
    message: "cluster 'other': type 'local' has one cluster, 'local'; use 'local', or another type",
  });
  await store.delete('alice', ref('Cluster', 'other', ''));
  await reconciler.reconcile(ref('Cluster', 'other', ''));
  expect(await reconciler.reconcile(ref('Cluster', 'other', ''))).toBeNull();
});

describe('an external endpoint', () => {
  const away = ref('ExternalEndpoint', 'away');
  const SPEC = `
  timeout_s: 20
  upstreams:
    - {name: first, url: 'https://a.example/v1beta/openai', credential: hush, models: {chat: big}}
    - {name: spare, url: 'https://b.example', tier: 1, weight: 2, models: {chat: small, more: small}}`;
  const externalsOf = ({ routes, store, timing }: FakePlane, changed: (key: string) => void = () => {}) =>
    new ExternalEndpointReconciler({ store, routes, timing, changed, isLeader: () => true });

  test('is routed with its credentials, and reports the health of its upstreams', async () => {
    const plane = await FakePlane.open();
    const { routes, store, timing } = plane;
    const reconciler = externalsOf(plane);
    await plane.apply(resource('ExternalEndpoint', 'away', SPEC));
    routes.health.set('default.away.first', { state: 'starting', problem: 'not checked yet' });
    routes.health.set('default.away.spare', { state: 'starting', problem: 'not checked yet' });
    await reconciler.reconcile(away);
    expect(routes.endpoints.get('default/away')).toMatchObject({
      models: ['chat', 'more'],
      replicas: [
        {
          ...{ id: 'default.away.first', url: 'https://a.example', models: ['chat'] },
          external: { prefix: '/v1beta/openai', credential: 'hush', renames: { chat: 'big' }, firstByteMs: 20_000 },
        },
        { url: 'https://b.example', external: { prefix: '/v1', credential: null, tier: 1, weight: 2 } },
      ],
    });
    const phase = async () => {
      await reconciler.reconcile(away);
      const { status } = (await store.get(away))!;
      return `${status!.phase} ${status!.healthy}: ${status!.message}`;
    };
    const unchecked = 'default.away.first not checked yet; default.away.spare not checked yet';
    expect(await phase()).toBe(`Pending 0: ${unchecked}`);
    await timing.pass(5000);
    expect(await phase()).toBe(`Failed 0: ${unchecked}`);
    routes.health.delete('default.away.first');
    expect(await phase()).toBe('Degraded 1: default.away.spare not checked yet');
    routes.health.delete('default.away.spare');
    expect(await phase()).toBe('Running 2: ');
    for (const id of ['first', 'spare']) routes.health.set(`default.away.${id}`, { state: 'unhealthy', problem: '' });
    expect(await phase()).toBe('Failed 0: default.away.first is unhealthy; default.away.spare is unhealthy');
    expect((await store.events.list(away)).map(({ type }) => type)).toEqual([
      'warning',
      'normal',
      'warning',
      'warning',
      'normal',
    ]);
    await store.delete('alice', away);
    expect(await reconciler.reconcile(away)).toBeNull();
    expect([routes.endpoints.size, await store.get(away), await reconciler.reconcile(away)]).toEqual([0, null, null]);
  });

  test('is not healthy while a ready upstream fails requests', async () => {
    const plane = await FakePlane.open();
    const { routes, store } = plane;
    const reconciler = externalsOf(plane);
    await plane.apply(resource('ExternalEndpoint', 'away', SPEC));
    const look = async () => {
      await reconciler.reconcile(away);
      const { metadata, status } = (await store.get(away))!;
      return [status!.phase, status!.message, metadata.resource_version] as const;
    };
    const [phase, , version] = await look();
    // What has not changed is not written again.
    expect([phase, (await look())[2]]).toEqual(['Running', version]);
    const problem = 'refuses the credential: requests get 401';
    routes.health.set('default.away.first', { state: 'ready', problem });
    expect(await look()).toMatchObject(['Degraded', `default.away.first ${problem}`, expect.anything()]);
    routes.health.set('default.away.spare', { state: 'ready', problem: 'fails requests: ECONNREFUSED' });
    expect(await look()).toMatchObject(['Failed', expect.stringContaining('ECONNREFUSED'), expect.anything()]);
    expect((await store.events.list(away)).map(({ message, reason }) => `${reason}: ${message}`)).toMatchObject([
      expect.stringContaining('Failed: default.away.first refuses the credential'),
      `Degraded: default.away.first ${problem}`,
      'Running: all 2 upstreams respond',
    ]);
    routes.health.clear();
    expect((await look())[0]).toBe('Running');
  });

  test('is reconciled again when the state of its upstreams differs from its status, and only then', async () => {
    const plane = await FakePlane.open();
    const { routes, timing } = plane;
    const changed: string[] = [];
    const reconciler = externalsOf(plane, (key) => changed.push(key));
    const names = ['a', 'b', 'c', 'd'];
    const spec = "{upstreams: [{name: u, url: 'https://a.example'}]}";
    await plane.apply(names.map((name) => resource('ExternalEndpoint', name, spec)).join('---\n'));
    for (const name of names) await reconciler.reconcile(ref('ExternalEndpoint', name));
    await timing.pass(60_000);
    expect(changed).toEqual([]);
    for (const name of names) routes.health.set(`default.${name}.u`, { state: 'unhealthy', problem: 'gone' });
    // Each is read within a second, in four parts.
    await timing.pass(250);
    expect(changed.length).toBe(1);
    await timing.pass(1000);
    expect(new Set(changed)).toEqual(new Set(names.map((name) => `ExternalEndpoint/default/${name}`)));
    reconciler.close();
    expect(timing.next).toBeNull();
  });

  test('is routed from its record at a start, and keeps its status until its upstreams have been checked', async () => {
    const plane = await FakePlane.open();
    const { routes, store } = plane;
    await plane.apply(resource('ExternalEndpoint', 'away', SPEC));
    await externalsOf(plane).reconcile(away);
    const before = (await store.get(away))!;
    routes.endpoints.clear();
    for (const id of ['first', 'spare']) routes.health.set(`default.away.${id}`, { state: 'starting', problem: 'new' });
    const next = externalsOf(plane);
    const record = (await store.resources.get(away))!;
    expect(next.restore(record)).toBe('later');
    expect(routes.endpoints.has('default/away')).toBe(true);
    await next.reconcile(away);
    expect(await store.get(away)).toEqual(before);
    expect([next.restore(record), externalsOf(plane).restore({ ...record, deletedAt: 1 })]).toEqual(['now', 'now']);
  });

  test('is applied again when it changes, and after the gateway has refused it', async () => {
    const plane = await FakePlane.open();
    const { routes } = plane;
    const reconciler = externalsOf(plane);
    await plane.apply(resource('ExternalEndpoint', 'away', SPEC));
    routes.putFails = new Error('taken');
    await expect(reconciler.reconcile(away)).rejects.toThrow('taken');
    routes.putFails = null;
    await reconciler.reconcile(away);
    await plane.apply(resource('ExternalEndpoint', 'away', SPEC.replace('hush', 'other')));
    await reconciler.reconcile(away);
    expect(routes.endpoints.get('default/away')!.replicas[0]!.external!.credential).toBe('other');
  });

  test('accepts any model when an upstream does, and cannot have the name of an Endpoint', async () => {
    const plane = await FakePlane.open();
    await plane.apply(resource('ExternalEndpoint', 'away', "{upstreams: [{name: a, url: 'https://a.example'}]}"));
    await externalsOf(plane).reconcile(away);
    const routed = plane.routes.endpoints.get('default/away')!;
    expect([routed.models, routed.replicas[0]!.models]).toEqual([undefined, null]);
    expect(await plane.store.events.list(away)).toMatchObject([
      { reason: 'Running', message: 'its upstream responds' },
    ]);
    await plane.chat('  replicas: 0\n');
    const twin = resource('ExternalEndpoint', 'chat', "{upstreams: [{name: a, url: 'https://a.example'}]}");
    await expect(plane.apply(twin)).rejects.toMatchObject({ code: 'RESOURCE_NAME_TAKEN' });
  });
});
