import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../../store/open-store.js';
import { SecretBox } from '../../store/resources/secrets.js';
import { ModelCache } from '../models/cache/model-cache.js';
import { readResources } from '../resources/read-resources.js';
import type { Status } from '../resources/resource.js';
import type { ClusterRunners } from '../runner/cluster-runners.js';
import type { ClusterCapacity } from '../runner/contract.js';
import { kubernetesType } from '../runner/kubernetes/kubernetes-type.js';
import { localType } from '../runner/local/local-type.js';
import { ControlStore } from '../store/control-store.js';
import { installDefaults } from '../store/install-defaults.js';
import { FakeRoutes } from './fake-routes.fixture.js';
import { FakeRunners } from './fake-runners.fixture.js';
import { FakeTiming, settled } from './fake-timing.fixture.js';
import { startReconcilers } from './start-reconcilers.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };
const CAPACITY: ClusterCapacity = {
  ...{ cpus: 4, memoryBytes: 1, gpus: [], problems: [], free: { cpus: 4, memoryBytes: 1, gpus: [] } },
  limits: { cpu: 'none', memory: 'none', gpus: 'none' },
};
const START = Date.UTC(2026, 0, 31);

let folder: string;
let opened: Store;
let store: ControlStore;
let fake: FakeRunners;
let routes: FakeRoutes;
let stop: () => Promise<void>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-true-'));
  opened = await openStore(join(folder, 'yard.db'));
  store = new ControlStore(opened, SecretBox.open(join(folder, 'secrets.key')));
  await installDefaults(store);
  // No timer fires and no time passes: everything here happens without either.
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval'], now: START });
  fake = new FakeRunners(new FakeTiming());
  routes = new FakeRoutes();
  const runners = Object.assign(fake, { runsHere: () => true, use: async () => ({ discover: async () => CAPACITY }) });
  ({ close: stop } = await startReconcilers({
    ...{ store, keys: opened.keys, routes, self: ['twinyard'], urlOf: () => 'u' },
    runners: runners as unknown as ClusterRunners,
    cache: await ModelCache.open(join(folder, 'models')),
    onFault: (error) => expect.unreachable(String(error)),
  }));
});
afterEach(async () => {
  await stop();
  vi.useRealTimers();
  await opened.close();
  rmSync(folder, { recursive: true });
});

async function apply(replicas: number): Promise<void> {
  const spec = `{engine: {name: emulator}, model: {name: qwen/qwen3-14b}, replicas: ${replicas}}`;
  const text = `apiVersion: twinyard/v1\nkind: Endpoint\nmetadata: {name: chat}\nspec: ${spec}\n`;
  await store.apply('alice', readResources(text, 'f.yaml'));
}

const status = async () => (await store.get(CHAT))?.status;

/** Resolves when the status is accepted; the store waits for the disk. */
async function until(accepts: (status: Status | undefined) => boolean): Promise<void> {
  while (!accepts(await status())) await settled();
}

test('routes follow the readiness of replicas without a timer', async () => {
  await apply(2);
  await until(() => fake.ids.length === 2);
  const [first, second] = fake.ids as [string, string];
  fake.ready(first);
  await until((now) => now?.ready === 1);
  expect(routes.routed()).toEqual([first]);
  fake.ready(second);
  await until((now) => now?.phase === 'Running');
  expect(routes.routed()).toEqual([first, second]);
  const times = (await status())!.conditions.map(({ since }) => Date.parse(since));
  expect(times).toEqual([START, START]);

  // An unready replica is unrouted before its endpoint is reconciled.
  fake.unready(first);
  expect(routes.routed()).toEqual([second]);
  fake.crash(second);
  expect(routes.routed()).toEqual([]);

  await apply(0);
  await until((now) => now?.phase === 'Paused');
  expect(routes.routed()).toEqual([]);
  expect(Date.now()).toBe(START);
});

test('a replica has no routes when it is stopped, and others keep theirs', async () => {
  await apply(2);
  await until(() => fake.ids.length === 2);
  fake.ready(...fake.ids);
  await until((now) => now?.phase === 'Running');
  const routed: string[][] = [];
  const end = fake.stop.bind(fake);
  fake.stop = async (replica) => {
    routed.push([replica.id, ...routes.routed()]);
    return end(replica);
  };
  await apply(1);
  await until((now) => now?.phase === 'Running' && fake.ids.length === 1);
  expect(routed).toEqual([[expect.any(String), fake.ids[0]!]]);
  expect(routed[0]![0]).not.toBe(fake.ids[0]);
});

test('a process that takes over opens the clusters that were created while it followed', async () => {
  await stop();
  let isLeader = false;
  const used: string[] = [];
  const runners = Object.assign(fake, {
    runsHere: (type: string) => type === 'local',
    async dropShared() {
      used.push('dropped');
    },
    async use(cluster: string) {
      used.push(cluster);
      return { discover: async () => CAPACITY };
    },
  });
  const started = await startReconcilers({
    ...{ store, routes, self: ['twinyard'], urlOf: () => 'u' },
    runners: runners as unknown as ClusterRunners,
    cache: await ModelCache.open(join(folder, 'models')),
    onFault: (error) => expect.unreachable(String(error)),
    scope: {
      isLeader: () => isLeader,
      isHere: () => isLeader,
      sharesLoopback: () => true,
      hostProblem: () => null,
    },
  });
  stop = started.close;
  const text = 'apiVersion: twinyard/v1\nkind: Cluster\nmetadata: {name: gpus}\nspec: {type: local}\n';
  await store.apply('alice', readResources(text, 'f.yaml'), { isAdmin: true });
  await settled();
  expect(used).toEqual([]);
  isLeader = true;
  await started.reconsider(async () => void used.push('before'));
  expect(used.slice(0, 3)).toEqual(['before', 'dropped', 'gpus']);
});

test('a cluster that several control planes reach is open for the leader only, and not reconciled until it is', async () => {
  await stop();
  let isLeader = false;
  let open: (() => void) | null = null;
  let isOpen = false;
  const runners = Object.assign(fake, {
    runsHere: (type: string) => type === 'local',
    typeOf: (cluster: string) => (cluster === 'local' ? localType : isOpen ? kubernetesType : null),
    async dropShared() {
      isOpen = false;
    },
    async use(cluster: string) {
      if (cluster === 'k8s' && !isOpen) {
        await new Promise<void>((resolve) => {
          open = resolve;
        });
        isOpen = true;
      }
      return { discover: async () => CAPACITY };
    },
  });
  const started = await startReconcilers({
    ...{ store, routes, self: ['twinyard'], urlOf: () => 'u' },
    runners: runners as unknown as ClusterRunners,
    cache: await ModelCache.open(join(folder, 'models')),
    onFault: (error) => expect.unreachable(String(error)),
    scope: {
      isLeader: () => isLeader,
      isHere: (cluster) => cluster === 'local' || isLeader,
      sharesLoopback: () => true,
      hostProblem: () => null,
    },
  });
  stop = started.close;
  const head = 'apiVersion: twinyard/v1\nkind:';
  const cluster = `${head} Cluster\nmetadata: {name: k8s}\nspec: {type: kubernetes}\n`;
  const spec = '{cluster: k8s, engine: {name: emulator}, model: {name: qwen/qwen3-14b}, replicas: 1}';
  const endpoint = `${head} Endpoint\nmetadata: {name: chat}\nspec: ${spec}\n`;
  await store.apply('alice', readResources(`${cluster}---\n${endpoint}`, 'f.yaml'), { isAdmin: true });
  await started.reconsider();
  await settled();
  expect([open, fake.ids]).toEqual([null, []]);
  isLeader = true;
  const reconsidered = started.reconsider();
  while (open === null) await new Promise(setImmediate);
  // Its endpoints are changed before its replicas are known: they are neither started nor reported as missing.
  await store.apply('alice', readResources(endpoint.replace('replicas: 1', 'replicas: 2'), 'f.yaml'));
  await settled();
  expect([fake.ids, (await store.get(CHAT))!.status]).toEqual([[], undefined]);
  (open as () => void)();
  await reconsidered;
  await until(() => fake.ids.length === 2);
  isLeader = false;
  await started.reconsider();
  expect([isOpen, fake.ids.length]).toEqual([false, 2]);
});

test('endpoints that wait for their cluster start when it is connected', async () => {
  let connect = () => {};
  let isOpen = false;
  Object.assign(fake, {
    typeOf: (cluster: string) => (cluster === 'k8s' && !isOpen ? null : kubernetesType),
    async use(cluster: string) {
      if (cluster === 'k8s' && !isOpen) {
        await new Promise<void>((resolve) => {
          connect = resolve;
        });
        isOpen = true;
      }
      return { discover: async () => CAPACITY };
    },
  });
  const head = 'apiVersion: twinyard/v1\nkind:';
  const cluster = `${head} Cluster\nmetadata: {name: k8s}\nspec: {type: kubernetes}\n`;
  const spec = '{cluster: k8s, engine: {name: emulator}, model: {name: qwen/qwen3-14b}, replicas: 1}';
  const endpoint = `${head} Endpoint\nmetadata: {name: chat}\nspec: ${spec}\n`;
  await store.apply('alice', readResources(`${cluster}---\n${endpoint}`, 'f.yaml'));
  await until((now) => now?.message?.includes('not connected') ?? false);
  connect();
  await until(() => fake.ids.length === 1);
});
