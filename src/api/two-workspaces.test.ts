import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ChangeFeed } from '../control/change-feed.js';
import { ControlStore } from '../control/store/control-store.js';
import { installDefaults } from '../control/store/install-defaults.js';
import { GATEWAY_DEFAULTS } from '../gateway/config/gateway-config.js';
import { configFor, FakeEngine } from '../gateway/fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from '../gateway/fleet/managed.fixture.js';
import { Gateway } from '../gateway/gateway.js';
import { SecretBox } from '../store/resources/secrets.js';
import { serveApi } from './api-server.js';
import { FakeRunner } from './fake-runner.fixture.js';
import { API_ROUTES } from './routes.js';

/** Two workspaces with the same kinds of resources, requests and history. Every name of the second has `bravo` in it. */
const [OWN, OTHER] = ['alpha', 'bravo'] as const;
const ROLES = ['viewer', 'operator', 'admin'] as const;

const LEAVERS = { role: 'viewer', api_keys: ['leaver'] };

let gateway: Gateway;
const opened: (() => unknown)[] = [];
const secrets: Record<string, string> = {};

const resource = (kind: string, workspace: string, name: string, spec: object) =>
  JSON.stringify({
    ...{ apiVersion: 'twinyard/v1', kind, spec },
    metadata: { name, ...(workspace === '' ? {} : { workspace }) },
  });

async function call(line: string, as: string, body?: string) {
  const [method, path] = line.split(' ') as [string, string];
  const left = new AbortController();
  const response = await fetch(`${gateway.adminUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${secrets[as] ?? as}` },
    signal: left.signal,
    ...(body === undefined ? {} : { body }),
  });
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const text = isStream ? '' : await response.text();
  left.abort();
  return { status: response.status, text };
}

async function admin(line: string, body?: string): Promise<string> {
  const { status, text } = await call(line, gateway.adminToken, body);
  expect(status, `${line}: ${text}`).toBeLessThan(300);
  return text;
}

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-two-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  const access = { ...GATEWAY_DEFAULTS.access, keys: 'required' as const };
  gateway = new Gateway(configFor([engine], { store: join(folder, 'x.db'), dataDir: folder, access }));
  await gateway.start();
  opened.push(() => gateway.close(0));
  const store = new ControlStore(gateway.store!, SecretBox.open(join(folder, 'secrets.key')));
  await installDefaults(store);
  const feed = await ChangeFeed.open(store.resources);
  opened.push(() => feed.close());
  gateway.api = serveApi(
    gateway,
    Promise.resolve({ host: { store, feed, runner: new FakeRunner(), drain: () => true } }),
  );
  for (const workspace of [OWN, OTHER]) {
    await admin('POST /api/v1/workspaces', resource('Workspace', '', workspace, {}));
    const base = `/api/v1/workspaces/${workspace}`;
    for (const role of ROLES) {
      const name = `${workspace}-${role}`;
      await admin(`POST ${base}/apikeys`, resource('ApiKey', workspace, name, {}));
      secrets[name] = JSON.parse(await admin(`POST ${base}/apikeys/${name}/issue`)).key;
      await admin(`POST ${base}/roles`, resource('Role', workspace, name, { role, api_keys: [name] }));
    }
    const replica = managedReplica(`${workspace}-replica`, engine.url, { models: [`${workspace}-model`] });
    gateway.routes.put(managedEndpoint([replica], { workspace, name: `${workspace}-live` }));
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets[`${workspace}-viewer`]}`, 'x-request-id': `${workspace}-request` },
      body: JSON.stringify({ model: `${workspace}-model`, messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect(response.status).toBe(200);
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets[`${workspace}-viewer`]}`, 'x-request-id': `${workspace}-refused` },
      body: JSON.stringify({ model: 'nowhere', messages: [] }),
    });
    const spec = { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b' } };
    await admin(`POST ${base}/endpoints`, resource('Endpoint', workspace, `${workspace}-declared`, spec));
  }
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

/** A path about the other workspace, wherever it can name it. */
const foreign = (path: string) =>
  path
    .replace('{workspace}', OTHER)
    .replace('{id}', `${OTHER}-request`)
    .replace('{name}', path.startsWith('/api/v1/workspaces/{name}') ? OTHER : `${OTHER}-declared`)
    .replace('{replica}', `${OTHER}-replica`)
    .replace(/\{\w+\}/g, 'x');

const BODY = resource('Endpoint', OTHER, `${OTHER}-declared`, {
  engine: { name: 'emulator' },
  model: { name: 'qwen/qwen3-14b' },
  replicas: 7,
});

/** Every caller may begin and end sessions of its own. */
const isOwn = (path: string) => path.startsWith('/api/v1/session');

describe.each(ROLES)('a key with the role %s in one workspace', (role) => {
  const key = `${OWN}-${role}`;

  it.each(API_ROUTES.map(({ method, path }) => `${method} ${path}`))(
    'sees and changes nothing of another by %s',
    async (line) => {
      const [method, path] = line.split(' ') as [string, string];
      const isWrite = method !== 'GET';
      const version = await gateway.store!.resources.version();
      const { status, text } = await call(`${method} ${foreign(path)}`, key, isWrite ? BODY : undefined);
      if (path.includes('{workspace}')) expect(status).toBe(403);
      else if (isWrite && !isOwn(path)) expect([403, 400, ...(path.includes('{id}') ? [404] : [])]).toContain(status);
      else if (path.includes('{name}') || path.includes('{id}')) expect(status).toBe(404);
      // What a caller named itself may be repeated to it.
      if (status < 300) expect(text).not.toContain(OTHER);
      expect(await gateway.store!.resources.version()).toBe(version);
    },
  );

  it.each([
    'events?workspace=bravo',
    'watch?workspace=bravo',
    'watch?topics=gateway',
    'replicas?workspace=bravo',
    'live?workspace=bravo',
    'usage?workspace=bravo',
    'audit?workspace=bravo',
  ])('is refused %s', async (path) => {
    expect((await call(`GET /api/v1/${path}`, key)).status).toBe(403);
  });

  it('sees what belongs to its own workspace in lists over all of them', async () => {
    const has = async (path: string, as = key) => (await call(`GET /api/v1/${path}`, as)).text;
    expect(await has('endpoints')).toContain('alpha-declared');
    expect(await has('apikeys')).toContain('alpha-admin');
    expect(JSON.parse(await has('workspaces')).items.map((one: { metadata: object }) => one.metadata)).toMatchObject([
      { name: OWN },
    ]);
    expect(await has('live')).toContain('alpha-live');
    expect(await has('replicas')).toContain('alpha-replica');
    expect(await has('decisions')).toContain('alpha-request');
    expect(await has('decisions/alpha-request')).toContain('alpha-replica');
    expect(await has('decisions/alpha-refused')).toContain('model_not_found');
    expect((await call('GET /api/v1/decisions/bravo-refused', key)).status).toBe(404);
    const usage = JSON.parse(await has('usage?by=endpoint,model'));
    expect(usage.items).toMatchObject([{ endpoint: 'alpha/alpha-live', model: 'alpha-model', requests: 1 }]);
    expect(usage.total.requests).toBe(1);
    const csv = await has('usage?by=endpoint&format=csv');
    expect(csv).toContain('alpha/alpha-live');
    expect(csv).not.toContain(OTHER);
    expect(JSON.parse(await has('usage?by=total', gateway.adminToken)).total.requests).toBe(2);
    expect(await has('events')).toContain('alpha');
  });

  it('reads the metrics of its own workspace, and none of the whole gateway', async () => {
    const { status, text } = await call('GET /metrics', key);
    expect(status).toBe(200);
    expect(text).toContain('twinyard_requests_total{endpoint="alpha/alpha-live",model="alpha-model",');
    expect(text).toContain('twinyard_replica_requests_total{replica="alpha-replica"} 1\n');
    for (const absent of [OTHER, 'twinyard_in_flight ', 'process_cpu', 'twinyard_wrong_keys', '"other"}']) {
      expect(text).not.toContain(absent);
    }
    const all = (await call('GET /metrics', gateway.adminToken)).text;
    for (const present of ['alpha-live', 'bravo-live', 'twinyard_in_flight ']) expect(all).toContain(present);
  });

  it('reads the audit log of its workspace as its admin only', async () => {
    const { status, text } = await call('GET /api/v1/audit?limit=1000', key);
    if (role !== 'admin') {
      expect(status).toBe(403);
      return;
    }
    const entries = JSON.parse(text).items as { kind: string; workspace: string; name: string }[];
    const kinds = new Set(entries.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['ApiKey', 'Endpoint', 'Role', 'Workspace']);
    for (const { kind, name, workspace } of entries) expect(kind === 'Workspace' ? name : workspace).toBe(OWN);
    expect((await call('GET /api/v1/audit?workspace=alpha&kind=Role', key)).text).toContain('alpha-viewer');
  });

  it('follows what belongs to its own workspace and nothing else', async () => {
    const left = new AbortController();
    const since = await gateway.store!.resources.version();
    const path = `/api/v1/watch?topics=resources,replicas,events&since=${since}`;
    const response = await fetch(gateway.adminUrl + path, {
      headers: { authorization: `Bearer ${secrets[key]}` },
      signal: left.signal,
    });
    expect(response.status).toBe(200);
    for (const workspace of [OTHER, OWN]) {
      const path = `/api/v1/workspaces/${workspace}/apikeys/${workspace}-new-${role}`;
      await admin(`PUT ${path}`, resource('ApiKey', workspace, `${workspace}-new-${role}`, {}));
    }
    expect(await gateway.store!.resources.version()).toBe(since + 2);
    let heard = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      heard += piece;
      if (/alpha-new/.test(heard) && /alpha-replica/.test(heard)) break;
    }
    expect(heard).toMatch(/alpha-new/);
    left.abort();
    expect(heard).not.toContain(OTHER);
  });
});

it('metrics need a key with a role once there are several workspaces, and the gateway warns once', async () => {
  const lines: string[] = [];
  gateway.onWarning = (line) => lines.push(line);
  const metrics = (secret?: string) =>
    fetch(
      `${gateway.adminUrl}/metrics`,
      secret === undefined ? {} : { headers: { authorization: `Bearer ${secret}` } },
    );
  expect((await metrics()).status).toBe(401);
  const keys = `/api/v1/workspaces/${OWN}/apikeys`;
  await admin(`POST ${keys}`, resource('ApiKey', OWN, 'roleless', {}));
  const { key } = JSON.parse(await admin(`POST ${keys}/roleless/issue`)) as { key: string };
  expect((await metrics(key)).status).toBe(403);
  expect(lines).toEqual([expect.stringContaining("set 'access: { metrics: open }'")]);
});

it('what is kept of a workspace goes with it, but not what is kept of others', async () => {
  const { events, requests, resources } = gateway.store!;
  const found = async (path: string) => (await call(`GET /api/v1/${path}`, gateway.adminToken)).text;
  await vi.waitUntil(async () => (await requests.count({})) > 1, { timeout: 10_000 });
  for (const path of ['requests', 'decisions', 'decisions/bravo-request', 'requests/bravo-request'])
    expect(await found(path), path).toContain('bravo-replica');
  gateway.routes.remove(OTHER, `${OTHER}-live`);
  await resources.change('test', async (tx) => {
    for (const ref of [...(await tx.refsIn(OTHER)), { kind: 'Workspace', workspace: '', name: OTHER }]) {
      const { uid } = await tx.markDeleted(ref);
      await tx.remove(ref, uid);
    }
  });
  for (const path of ['requests', 'decisions', 'decisions/bravo-request', 'requests/bravo-request'])
    expect(await found(path), path).not.toContain('bravo-replica');
  expect(await found('requests')).toContain('alpha-replica');
  expect([await requests.count({ workspaces: [OTHER] }), await events.list({ workspace: OTHER })]).toEqual([0, []]);
  expect(await requests.count({ workspaces: [OWN] })).toBeGreaterThan(0);
});

it('a stream ends when its key is revoked, and shows nothing that happens later', async () => {
  const keys = `/api/v1/workspaces/${OWN}/apikeys`;
  await admin(`POST ${keys}`, resource('ApiKey', OWN, 'leaver', {}));
  const { key } = JSON.parse(await admin(`POST ${keys}/leaver/issue`)) as { key: string };
  await admin(`POST /api/v1/workspaces/${OWN}/roles`, resource('Role', OWN, 'leavers', LEAVERS));
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.adminUrl}/api/v1/watch`, { headers });
  expect(response.status).toBe(200);
  await admin(`POST ${keys}/leaver/revoke`);
  let isOpen = true;
  const ended = response.text().finally(() => {
    isOpen = false;
  });
  for (let i = 0; isOpen; i++) {
    await admin(`PATCH /api/v1/workspaces/${OWN}/endpoints/${OWN}-declared`, `{"metadata":{"labels":{"n":"${i}"}}}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await ended;
});
