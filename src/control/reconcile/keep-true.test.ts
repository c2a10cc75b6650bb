import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../../store/open-store.js';
import { SecretBox } from '../../store/resources/secrets.js';
import { ModelCache } from '../models/cache/model-cache.js';
import { readResources } from '../resources/read-resources.js';
import type { Status } from '../resources/resource.js';
import type { Capacity, Runner } from '../runner/contract.js';
import { ControlStore } from '../store/control-store.js';
import { installDefaults } from '../store/install-defaults.js';
import type { DeclaredRunner } from './cluster-reconciler.js';
import { FakeRoutes } from './fake-routes.fixture.js';
import { FakeRunner } from './fake-runner.fixture.js';
import { FakeTiming, settled } from './fake-timing.fixture.js';
import { keepTrue } from './keep-true.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };
const CAPACITY: Capacity = {
  ...{ cpus: 4, memoryBytes: 1, gpus: [], problems: [], free: { cpus: 4, memoryBytes: 1, gpus: [] } },
  limits: { cpu: 'none', memory: 'none', gpus: 'none' },
};
const START = Date.UTC(2026, 0, 31);

let folder: string;
let opened: Store;
let store: ControlStore;
let fake: FakeRunner;
let routes: FakeRoutes;
let stop: () => Promise<void>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-true-'));
  opened = await openStore(join(folder, 'yard.db'));
  store = new ControlStore(opened, SecretBox.open(join(folder, 'secrets.key')));
  await installDefaults(store);
  // No timer comes to its end here, and no time passes: what happens, happens without either.
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval'], now: START });
  fake = new FakeRunner(new FakeTiming());
  routes = new FakeRoutes();
  const runner = Object.assign(fake, { discover: async () => CAPACITY, declare() {}, async *logs() {}, close() {} });
  stop = await keepTrue({
    ...{ store, keys: opened.keys, routes, self: ['twinyard'], urlOf: () => 'u' },
    runner: runner as unknown as Runner & DeclaredRunner,
    cache: await ModelCache.open(join(folder, 'models')),
    onFault: (error) => expect.unreachable(String(error)),
  });
});
afterEach(async () => {
  await stop();
  vi.useRealTimers();
  await opened.close();
  rmSync(folder, { recursive: true });
});

async function apply(replicas: number): Promise<void> {
  const spec = `{engine: {name: emulator}, model: {name: m}, replicas: ${replicas}}`;
  const text = `apiVersion: twinyard/v1\nkind: Endpoint\nmetadata: {name: chat}\nspec: ${spec}\n`;
  await store.apply('alice', readResources(text, 'f.yaml'));
}

const status = async () => (await store.get(CHAT))?.status;

/** Resolves when it is so; the store takes the disk's own time. */
async function until(isSo: (status: Status | undefined) => boolean): Promise<void> {
  while (!isSo(await status())) await settled();
}

test('routes follow who becomes ready and who leaves, with no timer in between', async () => {
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

  // Who is lost is lost before anything is even looked at.
  fake.unready(first);
  expect(routes.routed()).toEqual([second]);
  fake.crash(second);
  expect(routes.routed()).toEqual([]);

  await apply(0);
  await until((now) => now?.phase === 'Paused');
  expect(routes.routed()).toEqual([]);
  expect(Date.now()).toBe(START);
});

test('who is asked to leave has no routes when it is stopped, and others keep theirs', async () => {
  await apply(2);
  await until(() => fake.ids.length === 2);
  fake.ready(...fake.ids);
  await until((now) => now?.phase === 'Running');
  const routed: string[][] = [];
  const end = fake.stop.bind(fake);
  fake.stop = async (id) => {
    routed.push([id, ...routes.routed()]);
    return end(id);
  };
  await apply(1);
  await until((now) => now?.phase === 'Running' && fake.ids.length === 1);
  expect(routed).toEqual([[expect.any(String), fake.ids[0]!]]);
  expect(routed[0]![0]).not.toBe(fake.ids[0]);
});
