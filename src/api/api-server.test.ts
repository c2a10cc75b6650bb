import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ChangeFeed } from '../control/change-feed.js';
import type { ControlHost } from '../control/control-plane.js';
import { FakePlane } from '../control/reconcile/fake-plane.fixture.js';
import { startGateway } from '../gateway/fake-engine.fixture.js';
import type { Gateway } from '../gateway/gateway.js';
import { newKey } from '../store/keys/new-key.fixture.js';
import { serveApi } from './api-server.js';
import { FakeRunner } from './fake-runner.fixture.js';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const CHAT = '/api/v1/workspaces/default/endpoints/chat';

/** A gateway with the API, whose control plane does nothing by itself. */
async function served(control?: Promise<{ readonly host: ControlHost }>) {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-api-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  const plane = await FakePlane.open();
  const gateway = await startGateway([], { endpoints: [], store: join(folder, 'x.db'), dataDir: join(folder, 'data') });
  opened.push(() => gateway.close(0));
  const feed = await ChangeFeed.open(plane.store.resources);
  const host: ControlHost = { store: plane.store, feed, runner: new FakeRunner(), drain: () => true };
  gateway.api = serveApi(gateway, control ?? Promise.resolve({ host }));
  return { gateway, plane, host };
}

async function ask(gateway: Gateway, path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${gateway.adminToken}`, ...(init.headers as Record<string, string>) };
  const response = await fetch(`${gateway.adminUrl}${path}`, { ...init, headers });
  return { status: response.status, body: (await response.json()) as { error?: { code: string; message: string } } };
}

test('the holder of the admin token is an admin, and named so in the audit log', async () => {
  const { gateway, plane } = await served();
  await plane.chat('  replicas: 0\n');
  expect((await ask(gateway, CHAT, { method: 'DELETE', headers: { 'if-match': '"1"' } })).status).toBe(409);
  const spec = { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b' }, replicas: 0 };
  const body = JSON.stringify({ apiVersion: 'twinyard/v1', kind: 'Endpoint', metadata: { name: 'chat' }, spec });
  expect((await ask(gateway, CHAT, { method: 'PUT', body })).status).toBe(200);
  const [last] = await plane.store.resources.audit({ name: 'chat', limit: 1 });
  expect(last!.actor).toBe('admin');
});

test('a call waits for a control plane that opens, and returns 503 when none opens or another has taken over', async () => {
  let isLost = false;
  let open = (_: { readonly host: ControlHost }) => {};
  const later = new Promise<{ readonly host: ControlHost }>((resolve) => {
    open = resolve;
  });
  const { gateway, host, plane } = await served(later);
  await plane.chat('  replicas: 0\n');
  const early = ask(gateway, CHAT);
  open({
    get host() {
      if (isLost) throw new Error('another one has taken over');
      return host;
    },
  });
  expect((await early).status).toBe(200);
  isLost = true;
  const scale = { method: 'PUT', body: '{"replicas": 1}' };
  expect(await ask(gateway, `${CHAT}/scale`, scale)).toMatchObject({
    status: 503,
    body: { error: { code: 'CONTROL_NOT_OPEN', message: expect.stringContaining('another one has taken over') } },
  });
  gateway.api = serveApi(gateway, Promise.reject(new Error('another one has the folder')));
  expect(await ask(gateway, `${CHAT}/scale`, scale)).toMatchObject({
    status: 503,
    body: { error: { code: 'CONTROL_NOT_OPEN', message: expect.stringContaining('another one has the folder') } },
  });
});

test('metrics and API keys do not wait for a store that has fallen silent', async () => {
  const { gateway } = await served();
  const { resources } = gateway.store!;
  const { secret } = await newKey(gateway.store!, 'viewer');
  await gateway.holders!.refresh();
  const headers = { authorization: `Bearer ${secret}` };
  const metrics = async () => (await fetch(`${gateway.adminUrl}/metrics`)).status;
  expect([await metrics(), (await ask(gateway, '/api/v1/session', { headers })).status]).toEqual([200, 200]);
  const silence = new Promise<never>(() => {});
  Object.assign(resources, { count: () => silence, list: () => silence });
  expect([await metrics(), (await ask(gateway, '/api/v1/session', { headers })).status]).toEqual([200, 200]);
});

test('a gateway without a store has no resources, and says so', async () => {
  const gateway = await startGateway([], { endpoints: [] });
  opened.push(() => gateway.close(0));
  gateway.api = serveApi(gateway);
  expect(await ask(gateway, '/api/v1/engines/vllm')).toMatchObject({
    status: 409,
    body: { error: { code: 'API_NO_STORE' } },
  });
  expect((await ask(gateway, '/api/v1/endpoints')).status).toBe(200);
  expect((await ask(gateway, '/other')).status).toBe(404);
});
