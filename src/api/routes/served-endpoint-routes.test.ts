import type dns from 'node:dns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { configFor, FakeEngine, until } from '../../gateway/fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from '../../gateway/fleet/managed.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import { ApiHost } from '../api-host.js';
import { serveApi } from '../api-server.js';
import { respond } from '../respond.js';

/** A name that leads here, whatever it led to when the replica was added. */
vi.mock('node:dns', async (original) => {
  const real = await original<typeof dns>();
  const lookup = (name: string, options: object, done: (...all: unknown[]) => void) =>
    name === 'rebound.example'
      ? done(null, [{ address: '127.0.0.1', family: 4 }])
      : real.lookup(name, options, done as never);
  return { ...real, lookup };
});

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A gateway whose file has the endpoint `default`, beside the managed endpoint `ws/chat`. */
async function gatewayOf(): Promise<Gateway> {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  const gateway = new Gateway(configFor([engine]));
  gateway.api = serveApi(gateway);
  await gateway.start();
  opened.push(() => gateway.close(0));
  gateway.routes.put(managedEndpoint([managedReplica('a', engine.url)]));
  await until(() => gateway.replicas().every(({ state }) => state === 'ready'));
  return gateway;
}

const call = (gateway: Gateway, path: string, init: RequestInit = {}) =>
  fetch(`${gateway.adminUrl}/api/v1/${path}`, { ...init, headers: { authorization: `Bearer ${gateway.adminToken}` } });

async function ask(gateway: Gateway, path: string, method = 'GET', body?: unknown, ifMatch?: string) {
  const headers = {
    authorization: `Bearer ${gateway.adminToken}`,
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`${gateway.adminUrl}/api/v1/${path}`, init);
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
  return { status: response.status, body: (await response.json()) as any };
}

describe('an endpoint of the control plane', () => {
  it('is changed by its resource only', async () => {
    const gateway = await gatewayOf();
    const chat = 'workspaces/ws/endpoints/chat';
    const refused = { status: 409, body: { error: { code: 'API_MANAGED', hint: 'change its resource instead' } } };
    expect(await ask(gateway, `${chat}/policy`, 'PUT', { policy: 'lmetric' })).toMatchObject(refused);
    expect(await ask(gateway, `${chat}/policy/rollback`, 'POST')).toMatchObject(refused);
    expect(await ask(gateway, `${chat}/replicas`, 'POST', { url: 'http://h:1' })).toMatchObject(refused);
    expect(await ask(gateway, `${chat}/replicas/a`, 'DELETE')).toMatchObject(refused);
    expect((await ask(gateway, `${chat}/live`)).body).toMatchObject({ source: 'control-plane', replicas: ['a'] });
    expect((await ask(gateway, `${chat}/replicas`)).body.items).toMatchObject([{ id: 'a', workspace: 'ws' }]);
    expect((await ask(gateway, 'workspaces/default/endpoints/chat/live')).status).toBe(404);
  });
});

describe('an endpoint of the configuration file', () => {
  it('gets replicas on this machine, link-local and metadata addresses from admins only', async () => {
    const gateway = await gatewayOf();
    const host = new ApiHost({ gateway, store: gateway.store, control: null });
    const add = (role: 'operator' | 'admin', url: string) =>
      respond(
        host,
        { name: 'k', role, workspaces: new Map() },
        {
          ...{ method: 'POST', path: '/api/v1/workspaces/default/endpoints/default/replicas' },
          ...{ query: new URLSearchParams(), header: () => undefined, signal: new AbortController().signal },
          body: async () => JSON.stringify({ url, id: `${role} ${url}`, model: 'm' }),
        },
      );
    const local = [
      'http://127.0.0.1:1',
      'http://localhost:1',
      'http://[::1]:1',
      'http://0x7f.1',
      'http://169.254.169.254',
    ];
    for (const url of local) {
      expect(await add('operator', url)).toMatchObject({
        status: 403,
        body: { error: { code: 'RESOURCE_NEEDS_ADMIN', problems: [{ place: 'body (url)' }] } },
      });
    }
    expect(await add('admin', local[0]!)).toMatchObject({ status: 201 });
    // A name is checked when it has been looked up, at every connection.
    const { port } = new URL(gateway.replicas()[0]!.url);
    expect(await add('operator', `http://rebound.example:${port}`)).toMatchObject({ status: 201 });
    const added = () => gateway.replicas().find(({ id }) => id.includes('rebound'))!;
    await until(() => added().problem === 'ADDRESS_REFUSED');
    expect(added().state).not.toBe('ready');
  });

  it('belongs to the workspace default, as an Endpoint that only the file changes', async () => {
    const gateway = await gatewayOf();
    const one = 'workspaces/default/endpoints/default';
    const { body } = await ask(gateway, one);
    expect(body).toMatchObject({
      kind: 'Endpoint',
      metadata: { name: 'default', workspace: 'default', labels: { 'twinyard/source': 'file' } },
      spec: { engine: { name: 'vllm' }, model: { name: 'm' }, replicas: 1, routing: { policy: 'round-robin' } },
      status: { phase: 'Running', ready: 1, replicas: [{ id: 'r0', phase: 'ready' }] },
    });
    expect((await ask(gateway, 'workspaces/default/endpoints')).body).toMatchObject({ items: [body], next: null });
    expect((await ask(gateway, 'endpoints?labels=twinyard/source=file')).body.items).toHaveLength(1);
    expect((await ask(gateway, 'workspaces/other/endpoints')).body.items).toEqual([]);
    expect((await ask(gateway, 'events?kind=Endpoint&workspace=default&name=default')).body.items).toEqual([]);
    const refused = { status: 409, body: { error: { code: 'API_FILE_ENDPOINT' } } };
    expect(await ask(gateway, one, 'DELETE')).toMatchObject(refused);
    expect(await ask(gateway, `${one}/scale`, 'PUT', { replicas: 2 })).toMatchObject(refused);
  });
});

describe('a policy of the configuration file', () => {
  it('is changed only where it is the one that the change was made for', async () => {
    const gateway = await gatewayOf();
    const one = 'workspaces/default/endpoints/default';
    const seen = (await ask(gateway, `${one}/live`)).body.policy_hash;
    const lmetric = { policy: 'lmetric' };
    expect((await ask(gateway, `${one}/policy?dry_run=true`, 'PUT', lmetric, `"${seen}"`)).status).toBe(200);
    // Another change comes first.
    await ask(gateway, `${one}/policy`, 'PUT', { policy: 'random' });
    const hint = 'look at the policy in force, and make the change again';
    const refused = { status: 409, body: { error: { code: 'API_POLICY_CHANGED', hint } } };
    const guard = { metric: 'errors', most: 1 };
    for (const [path, method, body] of [
      ['policy', 'PUT', lmetric],
      ['policy?dry_run=true', 'PUT', lmetric],
      ['policy/rollback', 'POST', undefined],
      ['policy/switch', 'POST', { policy: lmetric, guard }],
    ] as const) {
      expect(await ask(gateway, `${one}/${path}`, method, body, `"${seen}"`), path).toMatchObject(refused);
    }
    const { policy, policy_hash: now } = (await ask(gateway, `${one}/live`)).body;
    expect(policy.routing.policy).toBe('random');
    expect((await ask(gateway, `${one}/policy/rollback`, 'POST', undefined, now)).status).toBe(200);
  });
});

describe('the event stream of a gateway', () => {
  it('has every replica once, then what changes, also policies', async () => {
    const gateway = await gatewayOf();
    const response = await call(gateway, 'watch?topics=replicas,gateway');
    const seen: string[] = [];
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const next = async (isThere: (text: string) => boolean) => {
      while (!seen.some(isThere)) seen.push((await reader.read()).value!);
    };
    await next((text) => text.includes('"id":"r0"'));
    await next((text) => text.includes('"workspace":"ws"'));
    expect(seen.join('')).toContain('event: replica\ndata: {"type":"listed"');
    await ask(gateway, 'workspaces/default/endpoints/default/policy', 'PUT', { policy: 'lmetric' });
    await next((text) => text.includes('event: gateway\ndata: {"type":"policy"'));
    gateway.routes.remove('ws', 'chat');
    await next((text) => text.includes('"type":"removed"'));
    await reader.cancel();
  });
});
