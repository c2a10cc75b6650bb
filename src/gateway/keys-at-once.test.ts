import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { GATEWAY_DEFAULTS } from './config/gateway-config.js';
import { FakeEngine, startGateway } from './fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from './fleet/managed.fixture.js';

it('a key that this process makes, changes or revokes is known to its gateway when that has resolved', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-keys-'));
  const engine = await FakeEngine.start();
  const access = { ...GATEWAY_DEFAULTS.access, keys: 'required' as const, refreshMs: 1e6 };
  const gateway = await startGateway([], { endpoints: [], store: join(folder, 'x.db'), dataDir: folder, access });
  onTestFinished(async () => {
    await gateway.close(0);
    await engine.kill();
    rmSync(folder, { recursive: true });
  });
  gateway.routes.put(managedEndpoint([managedReplica('a', engine.url, { models: ['m', 'n'] })]));
  const { keys } = gateway.store!;
  const { key, text } = await keys.create({ name: 'web' });
  const list = async (path = '', authorization = `Bearer ${text}`) => {
    const response = await fetch(`${gateway.url}${path}/v1/models`, { headers: { authorization } });
    return response.ok
      ? ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
      : response.status;
  };
  const path = '/workspace/ws/endpoint/chat';
  expect([await list(), await list(path)]).toEqual([
    ['m', 'n'],
    ['m', 'n'],
  ]);
  // Of an endpoint, too, one sees what the key may ask for, and without one not even whether it is there.
  await keys.update(key.id, { models: ['n'] });
  expect([await list(path), await list(path, ''), await list('/workspace/ws/endpoint/none', '')]).toEqual([
    ['n'],
    401,
    401,
  ]);
  await keys.revoke(key.id);
  expect(await list()).toBe(401);
  // What is made in the store is made, whether it is heard of or not.
  keys.changed = async () => {
    throw new Error('deaf');
  };
  expect((await keys.create({ name: 'other' })).key.name).toBe('other');
});
