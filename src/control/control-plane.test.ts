import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore, type Store } from '../store/open-store.js';
import { ControlPlane, type ControlPlaneOptions } from './control-plane.js';
import { isControlElsewhere } from './errors.js';
import { FakeRoutes } from './reconcile/fake-routes.fixture.js';
import { readResources } from './resources/read-resources.js';
import type { Status } from './resources/resource.js';
import { LocalRunner } from './runner/local/local-runner.js';
import { localType } from './runner/local/local-type.js';
import { allProcesses } from './runner/local/process/process-table.js';
import { sendSignal } from './runner/local/process/replica-process.js';
import type { RunnerOptions } from './runner/runner-type.js';

/** An engine in one line. */
const SCRIPT = "require('http').createServer((q, a) => a.end(process.env.A)).listen(process.argv[1], '127.0.0.1')";
const ENGINE = {
  versions: {
    v1: { tasks: ['text-generation'], metrics: 'vllm', command: [process.execPath, '-e', SCRIPT, '{port}'] },
  },
};
/** The runner of this machine, with quick readiness checks. */
const QUICK = {
  ...localType,
  open: ({ folder, onFault }: RunnerOptions) =>
    LocalRunner.open({ folder, onFault, readiness: { everyMs: 20, timeoutMs: 5000, failures: 2 } }),
};
const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

let folder: string;
let store: Store;
let routes: FakeRoutes;
const faults: unknown[] = [];
const losses: string[] = [];
const warnings: string[] = [];
const held: string[] = [];

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-control-')));
  held.length = 0;
  warnings.length = 0;
  store = await openStore(join(folder, 'yard.db'));
  routes = new FakeRoutes();
});
afterEach(async () => {
  for (let left = await processes(); left.length > 0; left = await processes())
    for (const pid of left) sendSignal(pid, 'SIGKILL');
  await store.close();
  rmSync(folder, { recursive: true });
  expect(faults.splice(0)).toEqual([]);
});

const open = (dataDir = 'data', more: Partial<ControlPlaneOptions> = {}) =>
  ControlPlane.open({
    ...{ store, routes, dataDir: join(folder, dataDir), self: [], url: () => 'http://gateway' },
    adminUrl: () => 'http://admin',
    onLead: () => {},
    onWarning: (line) => warnings.push(line),
    ...more,
    runnerTypes: [QUICK],
    onHeld: () => held.push(dataDir),
    onFault: (error) => faults.push(error),
    onLost: ({ message }) => losses.push(message),
  });

async function processes(dataDir?: string): Promise<number[]> {
  return (await allProcesses())
    .filter(({ folders }) =>
      folders.some((one) => one.startsWith(dataDir === undefined ? folder : join(folder, dataDir))),
    )
    .map(({ pid }) => pid);
}

const chat = (env: string, replicas: number) =>
  readResources(
    [
      { kind: 'Engine', metadata: { name: 'line' }, spec: ENGINE },
      {
        kind: 'Endpoint',
        metadata: { name: 'chat' },
        spec: { engine: { name: 'line' }, model: { name: 'm' }, replicas, env: { A: env } },
      },
    ]
      .map((one) => JSON.stringify({ apiVersion: 'twinyard/v1', ...one }))
      .join('\n---\n'),
    'f.yaml',
  );

async function shown({ host }: ControlPlane): Promise<Status> {
  return (await host.store.resources.get(CHAT))!.status as unknown as Status;
}

/** Resolves when the current generation of the endpoint runs. */
async function untilRunning({ host }: ControlPlane): Promise<void> {
  for (;;) {
    const { generation, status } = (await host.store.resources.get(CHAT))!;
    if (status?.phase === 'Running' && status.observed_generation === generation) return;
    await new Promise(setImmediate);
  }
}

test('starts processes, which the next control plane finds, replaces and stops', async () => {
  const first = await open();
  await first.host.store.apply('alice', chat('one', 2), { isAdmin: true });
  await untilRunning(first);
  const ids = routes.routed();
  expect([ids.length, (await processes()).length]).toEqual([2, 2]);
  await first.close();
  await first.close();
  expect(await processes()).toHaveLength(2);

  routes = new FakeRoutes();
  const next = await open();
  expect(routes.routed().sort()).toEqual([...ids].sort());
  expect(await next.host.store.resources.get({ kind: 'Cluster', workspace: '', name: 'local' })).not.toBeNull();
  await next.host.store.apply('alice', chat('two', 1), { isAdmin: true });
  await untilRunning(next);
  const [renewed] = routes.endpoints.get('default/chat')!.replicas;
  expect(await (await fetch(renewed!.url)).text()).toBe('two');
  await next.host.store.delete('alice', CHAT);
  while ((await next.host.store.get(CHAT)) !== null) await new Promise(setImmediate);
  expect(await processes()).toEqual([]);
  await next.close();
});

test('a folder has one control plane, and a store one that leads; others follow', async () => {
  const plane = await open();
  const refusal = await open('data').catch((error) => error);
  expect([isControlElsewhere(refusal), refusal.message]).toEqual([
    true,
    expect.stringMatching(/data: in use by another control plane; stop that one, or use another folder \(--data-dir/),
  ]);
  // A control plane that is refused never owns the folder.
  expect(held).toEqual(['data']);
  const other = await open('elsewhere');
  expect(plane.leader).toBeNull();
  expect(() => other.host).toThrow(
    /this process is a standby: the control plane is .*data, its admin API http:\/\/admin/,
  );
  await other.close();
  await plane.close();
  const next = await open('elsewhere');
  expect(next.leader).toBeNull();
  await next.close();
});

test('after leadership has moved to another host and back, there are as many replicas as declared', async () => {
  const passed = async (isSo: () => boolean | Promise<boolean>) => {
    while (!(await isSo())) await new Promise(setImmediate);
  };
  const first = await open('data');
  await first.host.store.apply('alice', chat('one', 3), { isAdmin: true });
  await untilRunning(first);
  const ids = routes.routed().sort();
  const firstRoutes = routes;
  routes = new FakeRoutes();
  const secondRoutes = routes;
  const secondStore = await openStore(join(folder, 'yard.db'));
  const second = await open('second', { store: secondStore });
  // It routes to replicas that it does not run.
  expect(secondRoutes.routed().sort()).toEqual(ids);
  await first.close();
  await passed(() => second.leader === null);
  await second.host.store.apply('alice', chat('one', 2), { isAdmin: true });
  await passed(async () => /belongs to .*data, where no control plane runs/.test((await shown(second)).message));
  expect(await processes()).toHaveLength(3);

  // The host of the replicas is back as a follower, and carries the change out.
  routes = firstRoutes;
  const again = await open('data');
  expect(() => again.host).toThrow('standby');
  await untilRunning(second);
  await passed(async () => (await processes()).length === 2);
  await passed(() => secondRoutes.routed().length === 2);
  await second.close();
  await passed(() => again.leader === null);
  expect(await processes()).toHaveLength(2);
  await again.host.store.delete('alice', CHAT);
  while ((await again.host.store.get(CHAT)) !== null) await new Promise(setImmediate);
  expect(await processes()).toEqual([]);
  await again.close();
  await secondStore.close();
});

test('a host that claims the local cluster runs its endpoints, and the former host stops its replicas', async () => {
  const first = await open('data');
  await first.host.store.apply('alice', chat('one', 1), { isAdmin: true });
  await untilRunning(first);
  const [id] = routes.routed();
  await first.close();
  routes = new FakeRoutes();
  const second = await open('second', { claimsCluster: true });
  await untilRunning(second);
  expect([routes.routed().length, routes.routed().includes(id!)]).toEqual([1, false]);
  expect(await processes('second')).toHaveLength(1);
  const secondRoutes = routes;
  routes = new FakeRoutes();
  const back = await open('data');
  while ((await processes('data')).length > 0) await new Promise(setImmediate);
  expect([await processes('second'), routes.routed()]).toEqual([[expect.any(Number)], secondRoutes.routed()]);
  await back.close();
  await second.close();
});

test('refuses a data folder that cannot be created', async () => {
  writeFileSync(join(folder, 'file'), '');
  await expect(open('file/data')).rejects.toMatchObject({
    code: 'RUNNER_FOLDER',
    message: expect.stringContaining(join(folder, 'file', 'data')),
  });
});

test('creates no new key while secrets are encrypted with another', async () => {
  const key = join(folder, 'data', 'secrets.key');
  const first = await open();
  const away = (credential: string) =>
    `apiVersion: twinyard/v1\nkind: ExternalEndpoint\nmetadata: {name: away}\nspec:\n  upstreams: [{name: a, url: 'http://127.0.0.1:1', credential: ${credential}}]\n`;
  await first.close();
  rmSync(key);
  // Nothing is encrypted yet: a new key does no harm.
  const second = await open();
  await second.host.store.apply('alice', readResources(away('hush'), 'f.yaml'), { isAdmin: true });
  await second.close();
  const kept = readFileSync(key);
  rmSync(key);
  held.length = 0;
  await expect(open()).rejects.toMatchObject({
    code: 'SECRETS_KEY_LOST',
    message: expect.stringMatching(
      /copy the file that belongs to this store; .* --accept-secrets-key and apply the resources with secrets again/,
    ),
  });
  expect([existsSync(key), held]).toEqual([false, []]);
  writeFileSync(key, kept, { mode: 0o600 });
  await (await open()).close();
  // What the hint says for a lost key.
  writeFileSync(key, `${'0'.repeat(64)}\n`, { mode: 0o600 });
  await expect(open()).rejects.toMatchObject({
    code: 'SECRETS_KEY_WRONG',
    message: expect.stringMatching(
      /secrets.key: is not the key of .*yard.db: the secrets there are encrypted with another/,
    ),
  });
  const last = await open('data', { acceptsKey: true });
  const ref = { kind: 'ExternalEndpoint', workspace: 'default', name: 'away' };
  await last.host.store.apply('alice', readResources(away('hush'), 'f.yaml'), { isAdmin: true });
  expect((await last.host.store.revealed(ref))!.spec).toMatchObject({ upstreams: [{ credential: 'hush' }] });
  await last.close();
  await (await open()).close();
});

test('a follower with another secrets.key warns at its start, and does not take over once secrets are stored', async () => {
  const passed = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise(setImmediate);
  };
  const text =
    'apiVersion: twinyard/v1\nkind: ExternalEndpoint\nmetadata: {name: away}\nspec:\n' +
    "  upstreams: [{name: a, url: 'http://127.0.0.1:1', credential: hush}]\n";
  const away = { kind: 'ExternalEndpoint', workspace: 'default', name: 'away' };
  const first = await open('data');
  expect(warnings).toEqual([]);
  const secondStore = await openStore(join(folder, 'yard.db'));
  const followerRoutes = new FakeRoutes();
  const options = { store: secondStore, routes: followerRoutes };
  const second = await open('second', options);
  expect(warnings.splice(0)).toEqual([
    expect.stringMatching(
      /second\/secrets.key: is not the secrets.key of the control plane at .*:.*data: copy that file/,
    ),
  ]);
  await first.host.store.apply('alice', readResources(text, 'f.yaml'), { isAdmin: true });
  // It cannot route to the endpoint, which is no problem of the endpoint: its status stays that of the leader.
  await passed(() => faults.length > 0);
  expect(String(faults.splice(0)[0])).toContain('secrets.key');
  expect((await first.host.store.get(away))!.status?.message ?? '').not.toContain('secrets.key');
  await first.close();
  await passed(() => warnings.length > 0);
  expect(warnings.splice(0)).toEqual([
    expect.stringMatching(/does not take over: .*second\/secrets.key: is not the key of .*yard.db/),
  ]);
  expect(() => second.host).toThrow('standby');
  await second.close();
  await expect(open('second', options)).rejects.toMatchObject({ code: 'SECRETS_KEY_WRONG' });

  // With the file of the leader it takes over.
  writeFileSync(join(folder, 'second', 'secrets.key'), readFileSync(join(folder, 'data', 'secrets.key')));
  const next = await open('second', options);
  expect([next.leader, warnings, followerRoutes.routed('default', 'away')]).toEqual([null, [], ['default.away.a']]);
  await next.close();
  await secondStore.close();
  faults.length = 0;
});

test('a leader that does not know its successor yet makes no change', async () => {
  const first = await open('data');
  const { store: stale } = first.host;
  await stale.apply('alice', chat('one', 0), { isAdmin: true });
  const held = JSON.parse((await store.settings.get('control_plane'))!);
  // As after a pause of the process, in which another one has taken over.
  await store.settings.set('control_plane', JSON.stringify({ ...held, owner: 'another', place: 'there:/data' }));
  expect(first.leader).toBeNull();
  const refusal = { code: 'CONTROL_ELSEWHERE', message: expect.stringContaining('there:/data') };
  await expect(stale.apply('alice', chat('one', 1), { isAdmin: true })).rejects.toMatchObject(refusal);
  await expect(stale.delete('alice', CHAT)).rejects.toMatchObject(refusal);
  expect((await store.resources.get(CHAT))!.spec).toMatchObject({ replicas: 0 });
  await first.close();
});
