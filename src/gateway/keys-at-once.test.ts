import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { deleteKey, keyRef, newKey, putKey } from '../store/keys/new-key.fixture.js';
import { GATEWAY_DEFAULTS } from './config/gateway-config.js';
import { FakeEngine, startGateway } from './fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from './fleet/managed.fixture.js';

it('a gateway applies changes of keys by its own process before they resolve', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-keys-'));
  const engine = await FakeEngine.start();
  const access = { ...GATEWAY_DEFAULTS.access, keys: 'required' as const, refreshMs: 1e6 };
  const gateway = await startGateway([], { endpoints: [], store: join(folder, 'x.db'), dataDir: folder, access });
  onTestFinished(async () => {
    await gateway.close(0);
    await engine.kill();
    rmSync(folder, { recursive: true });
  });
  gateway.routes.put(
    managedEndpoint([managedReplica('a', engine.url, { models: ['m', 'n'] })], { workspace: 'default' }),
  );
  const store = gateway.store!;
  const { secret } = await newKey(store, 'web');
  const list = async (path = '', authorization = `Bearer ${secret}`) => {
    const response = await fetch(`${gateway.url}${path}/v1/models`, { headers: { authorization } });
    return response.ok
      ? ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
      : response.status;
  };
  const path = '/workspace/default/endpoint/chat';
  expect([await list(), await list(path)]).toEqual([
    ['m', 'n'],
    ['m', 'n'],
  ]);
  // Also of an endpoint a key lists the models that it may use; without a key not even its existence shows.
  await putKey(store, 'web', { models: ['n'] });
  expect([await list(path), await list(path, ''), await list('/workspace/default/endpoint/none', '')]).toEqual([
    ['n'],
    401,
    401,
  ]);
  await store.keys.revoke(keyRef('web'), 'admin');
  expect(await list()).toBe(401);
  const other = await newKey(store, 'other');
  expect(await list('', `Bearer ${other.secret}`)).toEqual(['m', 'n']);
  await deleteKey(store, 'other');
  expect(await list('', `Bearer ${other.secret}`)).toBe(401);
  // A change is stored whether a listener fails or not.
  store.resources.watch(() => Promise.reject(new Error('deaf')));
  expect((await newKey(store, 'third')).secret).toMatch(/^ty_/);
});
