import { expect, test } from 'vitest';
import { adminExtension } from './admin-extension.js';
import { ChangeFeed } from './api/change-feed.js';
import type { ControlHost } from './api/control-route.js';
import { FakePlane } from './reconcile/fake-plane.fixture.js';
import { issueKey } from './store/api-keys.js';

async function opened() {
  const plane = await FakePlane.open();
  const feed = await ChangeFeed.open(plane.store.resources);
  const runner = {
    ...plane.runners,
    list: () => plane.runners.list(),
    watch: () => () => {},
    logs: async function* () {},
  };
  const host: ControlHost = { store: plane.store, feed, keys: plane.opened.keys, runner };
  const extension = adminExtension(Promise.resolve({ host }));
  const ask = (
    caller: { name: string; role: 'none' | 'admin'; keyId: string | null },
    method: string,
    path: string,
    more = {},
  ) =>
    extension.handle({
      ...{ caller, method, path, query: new URLSearchParams(), header: () => undefined, body: async () => '' },
      signal: new AbortController().signal,
      ...more,
    });
  return { plane, host, extension, ask };
}

const ADMIN = { name: 'admin', role: 'admin', keyId: null } as const;
const CHAT = '/api/v1/workspaces/default/endpoints/chat';

test('answers what is under its path, and no more', async () => {
  const { extension } = await opened();
  expect([extension.handles('/api/v1/kinds'), extension.handles('/api/replicas')]).toEqual([true, false]);
});

test('whoever asks is named in the audit log, and a version that is given has to be right', async () => {
  const { ask, plane } = await opened();
  await plane.chat('  replicas: 0\n');
  const refused = await ask(ADMIN, 'DELETE', CHAT, { header: () => '"1"' });
  expect(refused.status).toBe(409);
  const spec = { engine: { name: 'emulator' }, model: { name: 'm' }, replicas: 0 };
  const body = JSON.stringify({ apiVersion: 'twinyard/v1', kind: 'Endpoint', metadata: { name: 'chat' }, spec });
  expect((await ask(ADMIN, 'PUT', CHAT, { body: async () => body })).status).toBe(200);
  const [last] = await plane.store.resources.audit({ name: 'chat', limit: 1 });
  expect(last!.actor).toBe('admin');
});

test('the holder of an ApiKey has what Roles of its workspace give him, and nothing elsewhere', async () => {
  const { ask, plane } = await opened();
  await plane.chat('  replicas: 0\n');
  const head = (kind: string, name: string) => `apiVersion: twinyard/v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;
  await plane.apply(`${head('ApiKey', 'alice')}spec: {}\n---\n${head('ApiKey', 'bob')}spec: {}\n`);
  await plane.apply(`${head('Role', 'viewers')}spec: {role: viewer, api_keys: [alice]}\n`);
  const keyOf = async (name: string) => {
    const ref = { kind: 'ApiKey', workspace: 'default', name };
    const { id } = await issueKey(plane.store, plane.opened.keys, ref, 'alice');
    return { name: `default/${name}`, role: 'none', keyId: id } as const;
  };
  const [alice, bob] = [await keyOf('alice'), await keyOf('bob')];
  expect((await ask(alice, 'GET', CHAT)).status).toBe(200);
  expect((await ask(alice, 'DELETE', CHAT)).status).toBe(403);
  expect((await ask(alice, 'GET', '/api/v1/endpoints')).status).toBe(403);
  expect((await ask(bob, 'GET', CHAT)).status).toBe(403);
  expect((await ask({ name: 'stranger', role: 'none', keyId: 'k' }, 'GET', CHAT)).status).toBe(403);
});

test('who asks before there is a control plane waits for it, and is told when none comes or it is no more', async () => {
  const { host, plane } = await opened();
  await plane.chat('  replicas: 0\n');
  let isLost = false;
  const kept = {
    get host() {
      if (isLost) throw new Error('another one has taken over');
      return host;
    },
  };
  let open = (_: typeof kept) => {};
  const later = new Promise<typeof kept>((resolve) => {
    open = resolve;
  });
  const never = adminExtension(Promise.reject(new Error('another one has the folder')));
  const call = { caller: ADMIN, method: 'GET', path: CHAT, query: new URLSearchParams(), header: () => undefined };
  const asked = { ...call, body: async () => '', signal: new AbortController().signal };
  const extension = adminExtension(later);
  const early = extension.handle(asked);
  open(kept);
  expect((await early).status).toBe(200);
  isLost = true;
  expect(await extension.handle(asked)).toMatchObject({
    status: 503,
    body: { code: 'CONTROL_NOT_OPEN', error: expect.stringContaining('another one has taken over') },
  });
  expect(await never.handle(asked)).toMatchObject({
    status: 503,
    body: { code: 'CONTROL_NOT_OPEN', error: expect.stringContaining('another one has the folder') },
  });
});
