import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../store/open-store.js';
import { ControlPlane } from './control-plane.js';
import { isControlElsewhere } from './errors.js';
import { FakeRoutes } from './reconcile/fake-routes.fixture.js';
import { readResources } from './resources/read-resources.js';
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
const held: string[] = [];

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-control-')));
  held.length = 0;
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

const open = (dataDir = 'data') =>
  ControlPlane.open({
    ...{ store, routes, dataDir: join(folder, dataDir), self: [], url: () => 'http://gateway' },
    runnerTypes: [QUICK],
    onHeld: () => held.push(dataDir),
    onFault: (error) => faults.push(error),
    onLost: ({ message }) => losses.push(message),
  });

async function processes(): Promise<number[]> {
  const home = join(folder, 'data', 'runner', 'local', 'replicas');
  return (await allProcesses())
    .filter(({ folders }) => folders.some((one) => dirname(one) === home))
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

test('a folder and a store have one control plane each', async () => {
  const plane = await open();
  const refused: string[] = [];
  for (const dataDir of ['data', 'elsewhere']) {
    const refusal = await open(dataDir).catch((error) => error);
    expect(isControlElsewhere(refusal), refusal.message).toBe(true);
    refused.push(refusal.message);
  }
  expect(refused).toEqual([
    expect.stringMatching(/data: in use by another control plane; stop that one, or use another folder \(--data-dir/),
    expect.stringMatching(/stop that one, or use another store; if it was killed, try again in \d+ s$/),
  ]);
  // A control plane that is refused never owns the folder.
  expect(held).toEqual(['data']);
  await plane.close();
  await (await open('elsewhere')).close();
  expect(held).toEqual(['data', 'elsewhere']);
});

test('accepts no changes after another has taken over; its replicas run, and are found when it has the lease again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const plane = await open();
  await plane.host.store.apply('alice', chat('one', 1), { isAdmin: true });
  await untilRunning(plane);
  const ids = routes.routed();
  const { host } = plane;
  const thief = { owner: 'x', place: 'elsewhere:/data', until: Date.now() + 1e9 };
  await store.settings.set('control_plane', JSON.stringify(thief));
  vi.advanceTimersByTime(10_000);
  while (losses.length === 0) await new Promise(setImmediate);
  vi.useRealTimers();
  expect(losses.splice(0)).toEqual([expect.stringContaining('elsewhere:/data')]);
  expect(() => plane.host).toThrow('in use by the control plane of elsewhere:/data');
  await plane.close();
  // Changes are not reconciled any more.
  await host.store.apply('alice', chat('two', 1), { isAdmin: true });
  expect([await plane.running(), routes.routed()]).toEqual([1, ids]);

  await store.settings.set('control_plane', JSON.stringify({ ...thief, until: 1 }));
  routes = new FakeRoutes();
  const next = await open();
  expect(routes.routed()).toEqual(ids);
  await untilRunning(next);
  expect(routes.routed()).not.toEqual(ids);
  await next.close();
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
      /restore the file that belongs to this store; .* apply the resources with secrets again/,
    ),
  });
  expect([existsSync(key), held]).toEqual([false, []]);
  writeFileSync(key, kept, { mode: 0o600 });
  await (await open()).close();
  // What the hint says for a lost key.
  writeFileSync(key, `${'0'.repeat(64)}\n`, { mode: 0o600 });
  const last = await open();
  const ref = { kind: 'ExternalEndpoint', workspace: 'default', name: 'away' };
  await last.host.store.apply('alice', readResources(away('hush'), 'f.yaml'), { isAdmin: true });
  expect((await last.host.store.revealed(ref))!.spec).toMatchObject({ upstreams: [{ credential: 'hush' }] });
  await last.close();
});
