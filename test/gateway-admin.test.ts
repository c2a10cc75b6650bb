import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { API_ROUTES } from '../src/api/routes.js';
import { configFor, FakeEngine } from '../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { RunError } from '../src/kernel/errors.js';
import { KEY_ROLES, type KeyRole } from '../src/store/keys/key-record.js';
import type { Store } from '../src/store/open-store.js';
import { readAudit } from '../src/store/resources/audit.js';
import type { UsageRow } from '../src/store/usage/usage.js';
import { afterwards, gatewayOver } from './support/gateway-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-admin-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function engine(): Promise<FakeEngine> {
  const fake = await FakeEngine.start();
  afterwards(() => fake.kill());
  return fake;
}

/** A gateway's admin port, with a key of every role if it has keys. */
class AdminPort {
  /** The text of a key, by role. */
  readonly keys = new Map<KeyRole, string>();
  /** How often the gateway took in changes of keys. */
  refreshed = 0;

  private constructor(readonly gateway: Gateway) {}

  static async open(keys: 'required' | 'off' = 'required'): Promise<AdminPort> {
    const { access } = configFor([]);
    const gateway = await gatewayOver([await engine()], {
      store: ':memory:',
      // Only what the port itself asks for is taken in.
      access: { ...access, keys, refreshMs: 3_600_000 },
      dataDir: mkdtempSync(join(folder, 'data-')),
    });
    const port = new AdminPort(gateway);
    for (const role of KEY_ROLES) {
      port.keys.set(role, (await port.store.keys.create({ name: `the ${role}`, role })).text);
    }
    const known = gateway.holders!;
    const refresh = known.refresh.bind(known);
    await refresh();
    known.refresh = () => {
      port.refreshed++;
      return refresh();
    };
    return port;
  }

  static async withoutStore(): Promise<AdminPort> {
    return new AdminPort(await gatewayOver([await engine()]));
  }

  get store(): Store {
    return this.gateway.store!;
  }

  /** What somebody with a role, with the token, or with whatever else gets. */
  async ask(who: string | null, path: string, method = 'GET', body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(this.gateway.adminUrl + path, {
      method,
      headers: { ...(who === null ? {} : { authorization: who }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : null,
    };
  }

  as(role: KeyRole, path: string, method = 'GET', body?: unknown) {
    return this.ask(`Bearer ${this.keys.get(role)}`, path, method, body);
  }

  asAdmin(path: string, method = 'GET', body?: unknown) {
    return this.as('admin', path, method, body);
  }
}

describe('who may do what', () => {
  test.each(API_ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s is for its role and those above it',
    async (_, { method, path, role }) => {
      const port = await AdminPort.open();
      const url = path.replace(/\{\w+\}/, 'none');
      const statusOf = async (who: string | null) =>
        (await port.ask(who, url, method, method === 'GET' ? undefined : {})).status;
      expect(await statusOf(null)).toBe(401);
      expect(await statusOf('Bearer wrong')).toBe(401);
      expect(await statusOf(`Bearer ${port.gateway.adminToken.slice(1)}`)).toBe(401);
      expect(await statusOf(port.gateway.adminToken)).toBe(401);
      const enough = KEY_ROLES.indexOf(role);
      for (const [i, other] of KEY_ROLES.entries()) {
        const status = await statusOf(`Bearer ${port.keys.get(other)}`);
        if (i < enough) expect(status, other).toBe(403);
        else expect([401, 403, 500], other).not.toContain(status);
      }
      expect([401, 403, 500]).not.toContain(await statusOf(`Bearer ${port.gateway.adminToken}`));
    },
  );

  test('keys with a role are known here also where requests need none', async () => {
    const port = await AdminPort.open('off');
    expect(port.gateway.access).toBeNull();
    expect((await port.as('viewer', '/api/v1/keys')).status).toBe(200);
    expect((await port.as('viewer', '/api/v1/config/reload', 'POST')).status).toBe(403);
    expect((await port.ask('Bearer wrong', '/api/v1/keys')).status).toBe(401);
    expect((await fetch(`${port.gateway.url}/v1/models`)).status).toBe(200);
  });

  test('every route that changes something takes more than looking', () => {
    for (const { method, path, role } of API_ROUTES) {
      if (path !== '/api/v1/apply' && method !== 'GET') expect(role, path).not.toBe('viewer');
    }
  });

  test('what a role may not do is not done, nor is its body read', async () => {
    const port = await AdminPort.open();
    const refused = await port.as('operator', '/api/v1/keys', 'POST', { name: 'mine', role: 'admin' });
    expect([refused.status, refused.body]).toEqual([
      403,
      { error: expect.objectContaining({ code: 'API_FORBIDDEN' }) },
    ]);
    expect(await port.store.keys.list()).toHaveLength(KEY_ROLES.length);
    const large = 'x'.repeat(1_500_000);
    expect((await port.as('viewer', '/api/v1/keys', 'POST', large)).status).toBe(403);
    expect((await port.as('admin', '/api/v1/keys', 'POST', large)).status).toBe(413);
    expect(port.refreshed).toBe(0);
  });

  test('a key without a role does not even learn what there is', async () => {
    const port = await AdminPort.open();
    for (const path of ['/api/v1/nothing', '/api/v1/keys', '/api/v1/config']) {
      expect((await port.as('none', path)).status).toBe(403);
    }
    expect((await port.as('viewer', '/api/v1/nothing')).status).toBe(404);
    expect((await port.ask(null, '/api/v1/nothing')).headers.get('www-authenticate')).toBe('Bearer');
  });

  test.each([
    ['with keys', () => AdminPort.open()],
    ['without', () => AdminPort.withoutStore()],
  ])('wrong tokens are throttled by address, the right one is not: %s', async (_, open) => {
    const port = await open();
    const most = port.gateway.config.access.wrongKeysPerMinute;
    for (let i = 0; i < most; i++) expect((await port.ask('Bearer guess', '/api/v1/config')).status).toBe(401);
    const limited = await port.ask('Bearer guess', '/api/v1/config');
    expect([limited.status, Number(limited.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect(limited.body.error.message).toContain('Too many wrong keys came from your address.');
    const without = await port.ask(null, '/api/v1/config');
    expect([without.status, without.body.error.message]).toEqual([
      401,
      expect.stringMatching(/^the admin token.* missing/),
    ]);
    expect((await port.ask(`Bearer ${port.gateway.adminToken}`, '/api/v1/config')).status).toBe(200);
    for (const role of port.keys.keys()) expect((await port.as(role, '/api/v1/config')).status).not.toBe(429);
  });

  test('every change is in the audit log: who, what, before and after', async () => {
    const port = await AdminPort.open();
    const created = (await port.asAdmin('/api/v1/keys', 'POST', { name: 'app' })).body as { id: string; key: string };
    await port.asAdmin(`/api/v1/keys/${created.id}`, 'PATCH', { tenant: 'search' });
    await port.asAdmin(`/api/v1/keys/${created.id}/rotate`, 'POST', {});
    await port.asAdmin(`/api/v1/keys/${created.id}`, 'DELETE');
    await port.as('operator', '/api/v1/workspaces/default/endpoints/default/policy', 'PUT', {
      routing: { policy: 'weighted' },
    });
    await port.as('operator', '/api/v1/workspaces/default/endpoints/default/policy/rollback', 'POST');
    const url = 'http://127.0.0.1:9';
    await port.as('operator', '/api/v1/workspaces/default/endpoints/default/replicas', 'POST', { id: 'spare', url });
    await port.as('operator', '/api/v1/workspaces/default/endpoints/default/replicas/spare', 'DELETE');
    await port.as('viewer', '/api/v1/keys', 'POST', { name: 'refused' });
    const log = (await readAudit(port.store.db, {})).reverse();
    expect(log.map(({ action, actor, kind, name }) => [actor, action, kind, name])).toEqual([
      ['the admin', 'create', 'Key', created.id],
      ['the admin', 'update', 'Key', created.id],
      ['the admin', 'issue', 'Key', created.id],
      ['the admin', 'delete', 'Key', created.id],
      ['the operator', 'update', 'Policy', 'default'],
      ['the operator', 'update', 'Policy', 'default'],
      ['the operator', 'create', 'Replica', 'spare'],
      ['the operator', 'delete', 'Replica', 'spare'],
    ]);
    const [, updated, , , swapped, back] = log;
    expect([updated!.before!.spec, updated!.after!.spec]).toMatchObject([{ tenant: 'app' }, { tenant: 'search' }]);
    expect([swapped!.after!.spec, back!.after!.spec]).toMatchObject([
      { routing: { policy: 'weighted' } },
      { routing: { policy: 'round-robin' } },
    ]);
    expect(JSON.stringify(log)).not.toContain(created.key);
  });

  test('a revoked or expired key is refused at once', async () => {
    const port = await AdminPort.open();
    const { body: operator } = await port.asAdmin('/api/v1/keys', 'POST', { name: 'late', role: 'operator' });
    const statusOf = async () => (await port.ask(`Bearer ${operator.key}`, '/api/v1/config')).status;
    expect(await statusOf()).toBe(200);
    await port.asAdmin(`/api/v1/keys/${operator.id}`, 'PATCH', { role: 'none' });
    expect(await statusOf()).toBe(403);
    await port.asAdmin(`/api/v1/keys/${operator.id}`, 'DELETE');
    const gone = await port.ask(`Bearer ${operator.key}`, '/api/v1/config');
    expect([gone.status, gone.body.error.message]).toEqual([401, expect.stringContaining('has been revoked')]);
  });
});

describe('keys', () => {
  const NAMED = { name: 'reports', models: ['m'], role: 'viewer', limits: { '*': { requests_per_minute: 5 } } };

  test('are made, and their text is shown that once', async () => {
    const port = await AdminPort.open();
    const made = await port.asAdmin('/api/v1/keys', 'POST', NAMED);
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { id, key, ...shown } = made.body;
    expect(key).toMatch(new RegExp(`^ty_${id}_[\\w-]{43}$`));
    expect(shown).toMatchObject({
      ...NAMED,
      tenant: 'reports',
      state: 'active',
      hint: key.slice(-4),
      expires_at: null,
    });
    const record = await port.store.keys.get(id);
    expect(record!.hash).toBe(createHash('sha256').update(key).digest('hex'));
    const responses = [
      await port.as('viewer', '/api/v1/keys'),
      await port.asAdmin(`/api/v1/keys/${id}`),
      await port.asAdmin(`/api/v1/keys/${id}`, 'PATCH', { name: 'other' }),
      await port.asAdmin(`/api/v1/keys/${id}`, 'DELETE'),
      await port.asAdmin('/api/v1/config'),
    ];
    for (const { status, text } of responses) {
      expect(status).toBe(200);
      for (const secret of [key, key.slice(16), record!.hash]) expect(text).not.toContain(secret);
    }
    expect(responses[1]!.body).toEqual({ id, ...shown });
    expect(port.refreshed).toBe(3);
  });

  test('are changed, only where it is said', async () => {
    const port = await AdminPort.open();
    const { id } = (await port.asAdmin('/api/v1/keys', 'POST', NAMED)).body;
    const changed = await port.asAdmin(`/api/v1/keys/${id}`, 'PATCH', {
      models: null,
      expires_at: '2030-01-31T00:00:00Z',
    });
    expect(changed.body).toMatchObject({ name: 'reports', models: null, expires_at: '2030-01-31T00:00:00.000Z' });
    expect(changed.body.limits).toEqual(NAMED.limits);
    const wrong = await port.asAdmin(`/api/v1/keys/${id}`, 'PATCH', { models: [] });
    expect([wrong.status, wrong.body.error.message]).toEqual([400, expect.stringContaining('(models): is empty')]);
    expect((await port.store.keys.get(id))!.models).toBeNull();
  });

  test('are rotated, and the text of before is good for as long as it is said', async () => {
    const port = await AdminPort.open();
    const made = (await port.asAdmin('/api/v1/keys', 'POST', NAMED)).body;
    const rotated = (await port.asAdmin(`/api/v1/keys/${made.id}/rotate`, 'POST', { grace_s: 60 })).body;
    expect(rotated.key).not.toBe(made.key);
    const record = (await port.store.keys.get(made.id))!;
    expect(record.previousHash).toBe(createHash('sha256').update(made.key).digest('hex'));
    expect(rotated.previous_until).toBe(new Date(record.previousUntil!).toISOString());
    const at = (await port.asAdmin(`/api/v1/keys/${made.id}/rotate`, 'POST', { grace_s: 0 })).body;
    expect([at.previous_until, (await port.store.keys.get(made.id))!.previousHash]).toEqual([null, null]);
    expect(port.refreshed).toBe(3);
  });

  test('are revoked for good', async () => {
    const port = await AdminPort.open();
    const { id } = (await port.asAdmin('/api/v1/keys', 'POST', NAMED)).body;
    expect((await port.asAdmin(`/api/v1/keys/${id}`, 'DELETE')).body).toMatchObject({ state: 'revoked' });
    expect((await port.asAdmin(`/api/v1/keys/${id}`, 'DELETE')).status).toBe(200);
    for (const [method, path] of [
      ['PATCH', ''],
      ['POST', '/rotate'],
    ] as const) {
      const refused = await port.asAdmin(`/api/v1/keys/${id}${path}`, method, {});
      expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('is revoked')]);
    }
  });

  test.each(['GET', 'PATCH', 'DELETE'])('that do not exist are not named when %s asks for them', async (method) => {
    const port = await AdminPort.open();
    const response = await port.asAdmin('/api/v1/keys/ty_planted', method, method === 'PATCH' ? {} : undefined);
    expect([response.status, response.body]).toEqual([
      404,
      { error: expect.objectContaining({ code: 'KEY_UNKNOWN', message: 'key: does not exist' }) },
    ]);
    expect((await port.asAdmin('/api/v1/keys/ty_planted/rotate', 'POST')).status).toBe(404);
  });

  test('need a store, and say so', async () => {
    const port = await AdminPort.withoutStore();
    for (const { method, path } of API_ROUTES) {
      if (!/v1\/(keys|usage)/.test(path)) continue;
      const body = method === 'GET' ? undefined : { name: 'n' };
      const token = `Bearer ${port.gateway.adminToken}`;
      const { status, body: response } = await port.ask(token, path.replace(/\{\w+\}/, 'none'), method, body);
      expect([status, response.error.code], path).toEqual([409, 'API_NO_STORE']);
    }
  });

  test('a failing store is reported without its password', async () => {
    const port = await AdminPort.open();
    port.store.keys.list = async () => {
      throw new RunError('STORE_FAILED', 'store postgres://u@h/d: disk full');
    };
    expect(await port.asAdmin('/api/v1/keys')).toMatchObject({
      status: 503,
      body: { error: { message: 'store postgres://u@h/d: disk full' } },
    });
    expect((await port.asAdmin('/api/v1/keys')).headers.get('retry-after')).toBe('1');
    expect(port.gateway.metrics.faults).toBe(0);
  });

  test('a new secret is returned even if the gateway cannot load it yet', async () => {
    const port = await AdminPort.open();
    let refreshed = 0;
    port.gateway.access!.refresh = () => {
      refreshed++;
      return Promise.reject(new RunError('STORE_FAILED', 'store: disk full'));
    };
    expect((await port.asAdmin('/api/v1/keys', 'POST', NAMED)).body.key).toMatch(/^ty_/);
    expect(refreshed).toBe(1);
  });
});

describe('usage', () => {
  const row = (keyId: string, model: string, day: string, requests: number): UsageRow => ({
    ...{ keyId, model, endpoint: 'default', day, outcome: 'ok', requests, inputTokens: 10 * requests },
    ...{ cachedTokens: requests, outputTokens: 5 * requests, reasoningTokens: 0, estimatedRequests: 0 },
    costNanos: 1_500_000 * requests,
  });

  async function used(): Promise<AdminPort> {
    const port = await AdminPort.open();
    await port.store.usage.fold('journal', [
      row('a', 'm', '2030-01-01', 1),
      row('a', 'm', '2030-01-02', 2),
      row('b', '=cmd|"x",1', '2030-01-02', 4),
    ]);
    return port;
  }

  test('is summed up by key and model, unless something else is asked for', async () => {
    const port = await used();
    const all = (await port.as('viewer', '/api/v1/usage')).body.items;
    expect(all.map(({ key, model, requests }: Record<string, unknown>) => [key, model, requests])).toEqual([
      ['a', 'm', 3],
      ['b', '=cmd|"x",1', 4],
    ]);
    expect((await port.asAdmin('/api/v1/usage?by=key&key=a')).body.items).toEqual([
      {
        ...{ key: 'a', requests: 3, input_tokens: 30, cached_tokens: 3, output_tokens: 15, reasoning_tokens: 0 },
        ...{ estimated_requests: 0, dollars: 0.0045 },
      },
    ]);
    const requestsOf = async (query: string) =>
      (await port.asAdmin(`/api/v1/usage?${query}`)).body.items.map(({ requests }: { requests: number }) => requests);
    expect(await requestsOf('by=total')).toEqual([7]);
    expect(await requestsOf('by=day')).toEqual([1, 6]);
    expect(await requestsOf('by=total&from=2030-01-02')).toEqual([6]);
    expect(await requestsOf('by=total&to=2030-01-01')).toEqual([1]);
    expect(await requestsOf('by=total&model=m')).toEqual([3]);
    expect(await requestsOf('by=endpoint,outcome')).toEqual([7]);
    expect(await requestsOf('by=total&key=none')).toEqual([0]);
  });

  test('is CSV for those who ask for it, and nothing in it is a formula', async () => {
    const port = await used();
    const viewer = `Bearer ${port.keys.get('viewer')}`;
    const csv = await port.ask(viewer, '/api/v1/usage?by=model', 'GET', undefined, { accept: 'text/csv' });
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(csv.text).toBe(
      'model,requests,input_tokens,cached_tokens,output_tokens,reasoning_tokens,estimated_requests,dollars\r\n' +
        '"\'=cmd|""x"",1",4,40,4,20,0,0,0.006\r\n' +
        'm,3,30,3,15,0,0,0.0045\r\n',
    );
    expect((await port.asAdmin('/api/v1/usage?format=csv')).text).toMatch(/^key,model,requests,/);
    const json = await port.ask(viewer, '/api/v1/usage?format=json', 'GET', undefined, { accept: 'text/csv' });
    expect(json.body.items).toHaveLength(2);
  });

  test.each([
    ['from=2030-02-30', "from: '2030-02-30' does not exist"],
    ['to=yesterday', "to: 'yesterday'"],
    ['by=keys', "by: 'keys' is no dimension"],
    ['by=', 'by: is empty'],
    ['from=2030-01-02&to=2030-01-01', 'to: is before from'],
    ['by=key,key', "by: 'key' is given twice"],
    ['key=a&key=b', 'key: is given twice'],
    ['modle=m', 'modle: unknown parameter'],
    ['format=xml', "format: unknown value 'xml'"],
  ])('%s is refused', async (query, problem) => {
    const { status, body } = await (await used()).asAdmin(`/api/v1/usage?${query}`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(problem)]);
  });
});
