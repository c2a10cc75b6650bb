import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { API_ROUTES } from '../src/api/routes.js';
import { configFor, FakeEngine } from '../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { RunError } from '../src/kernel/errors.js';
import { KEY_ROLES, type KeyRole, keyRecordOf } from '../src/store/keys/key-record.js';
import { hashKeySecret } from '../src/store/keys/key-secret.js';
import { keyRef, newKey } from '../src/store/keys/new-key.fixture.js';
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
  /** The secret of a key, by role. */
  readonly keys = new Map<KeyRole, string>();
  /** How often the gateway refreshed its keys. */
  refreshed = 0;

  private constructor(readonly gateway: Gateway) {}

  static async open(keys: 'required' | 'off' = 'required'): Promise<AdminPort> {
    const { access } = configFor([]);
    const gateway = await gatewayOver([await engine()], {
      store: ':memory:',
      // Keys are refreshed only on request of the port.
      access: { ...access, keys, refreshMs: 3_600_000 },
      dataDir: mkdtempSync(join(folder, 'data-')),
    });
    const port = new AdminPort(gateway);
    for (const role of KEY_ROLES) {
      port.keys.set(role, (await newKey(port.store, `the-${role}`, { role })).secret);
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

  static async withMetricsToken(): Promise<AdminPort> {
    const port = await AdminPort.open();
    port.gateway.reload({ ...port.gateway.config, access: { ...port.gateway.config.access, metrics: 'token' } });
    return port;
  }

  static async withoutStore(): Promise<AdminPort> {
    return new AdminPort(await gatewayOver([await engine()]));
  }

  get store(): Store {
    return this.gateway.store!;
  }

  /** The status for a caller with a role, with the token, or with other credentials. */
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

const KEYS = '/api/v1/workspaces/default/apikeys';
const DEFAULT = '/api/v1/workspaces/default/endpoints/default';
const keyDocument = (name: string, spec: object = {}) => ({
  ...{ apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name }, spec },
});

describe('roles', () => {
  // Streams do not end by themselves; their roles are checked by src/api/respond.test.ts.
  const routes = API_ROUTES.filter(({ response }) => response.type !== 'stream');

  test('each operation is allowed for its role and those above it', async () => {
    const port = await AdminPort.open();
    for (const { method, path, role } of routes) {
      const url = path.replace('{workspace}', 'default').replace(/\{\w+\}/g, 'none');
      const called = `${method} ${path}`;
      const statusOf = async (who: string | null) =>
        (await port.ask(who, url, method, method === 'GET' ? undefined : {})).status;
      expect(await statusOf(null), called).toBe(401);
      for (const [i, other] of KEY_ROLES.entries()) {
        const status = await statusOf(`Bearer ${port.keys.get(other)}`);
        if (i < KEY_ROLES.indexOf(role)) expect(status, `${called} ${other}`).toBe(403);
        else expect([401, 403, 500], `${called} ${other}`).not.toContain(status);
      }
      expect([401, 403, 500], called).not.toContain(await statusOf(`Bearer ${port.gateway.adminToken}`));
    }
  });

  test('wrong credentials get 401 everywhere', async () => {
    const port = await AdminPort.open();
    const token = port.gateway.adminToken;
    for (const who of ['Bearer wrong', `Bearer ${token.slice(1)}`, token, 'Bearer ', `Basic ${token}`]) {
      expect((await port.ask(who, '/api/v1/config')).status).toBe(401);
    }
    expect((await port.ask(null, '/api/v1/nothing')).headers.get('www-authenticate')).toBe('Bearer');
  });

  test('keys with a role are accepted where requests need no key', async () => {
    const port = await AdminPort.open('off');
    expect(port.gateway.access).toBeNull();
    expect((await port.as('viewer', KEYS)).status).toBe(200);
    expect((await port.as('viewer', '/api/v1/config/reload', 'POST')).status).toBe(403);
    expect((await port.ask('Bearer wrong', KEYS)).status).toBe(401);
    expect((await fetch(`${port.gateway.url}/v1/models`)).status).toBe(200);
  });

  test('a body is not read without the role', async () => {
    const port = await AdminPort.open();
    const refused = await port.as('operator', KEYS, 'POST', keyDocument('mine', { role: 'admin' }));
    expect([refused.status, refused.body.error.code]).toEqual([403, 'API_FORBIDDEN']);
    expect(await port.store.resources.list({ kind: 'ApiKey' })).toHaveLength(KEY_ROLES.length);
    const large = 'x'.repeat(1_500_000);
    expect((await port.as('viewer', KEYS, 'POST', large)).status).toBe(403);
    expect(await port.as('admin', KEYS, 'POST', large)).toMatchObject({
      status: 413,
      body: { error: { code: 'API_TOO_LARGE' } },
    });
    expect((await port.as('admin', `${KEYS}/web/issue`, 'POST', 'x'.repeat(70_000))).status).toBe(413);
    expect(port.refreshed).toBe(0);
  });

  test('a key without a role does not learn which paths exist', async () => {
    const port = await AdminPort.open();
    for (const path of ['/api/v1/nothing', KEYS, '/api/v1/config']) {
      expect((await port.as('none', path)).status).toBe(403);
    }
    expect((await port.as('viewer', '/api/v1/nothing')).status).toBe(404);
  });

  test('Roles give a key more in its workspace, and nothing elsewhere', async () => {
    const port = await AdminPort.open();
    const role = { role: 'viewer', api_keys: ['the-none'] };
    await port.store.resources.change('test', (tx) =>
      tx.put({ kind: 'Role', workspace: 'default', name: 'viewers' }, { spec: role, labels: {} }),
    );
    expect((await port.as('none', DEFAULT)).status).toBe(200);
    expect((await port.as('none', DEFAULT, 'DELETE')).status).toBe(403);
    const all = await port.as('none', '/api/v1/endpoints');
    const seen = (all.body as { items: { metadata: { workspace: string } }[] }).items;
    expect([all.status, seen.every(({ metadata }) => metadata.workspace === 'default')]).toEqual([200, true]);
    expect((await port.as('none', '/api/v1/workspaces/other/endpoints')).status).toBe(403);
    expect((await port.as('none', '/api/v1/config')).status).toBe(403);
  });

  test.each([
    ['with keys', () => AdminPort.open()],
    ['without', () => AdminPort.withoutStore()],
  ])('wrong tokens get 429, by address, and the right one is accepted: %s', async (_, open) => {
    const port = await open();
    const most = port.gateway.config.access.wrongKeysPerMinute;
    for (let i = 0; i < most; i++) expect((await port.ask('Bearer guess', '/api/v1/config')).status).toBe(401);
    const limited = await port.ask('Bearer guess', '/api/v1/config');
    expect([limited.status, Number(limited.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect(limited.body.error).toMatchObject({
      code: 'API_RATE_LIMITED',
      message: expect.stringContaining('wrong keys'),
    });
    const without = await port.ask(null, '/api/v1/config');
    expect([without.status, without.body.error.code]).toEqual([401, 'API_UNAUTHENTICATED']);
    expect((await port.ask(`Bearer ${port.gateway.adminToken}`, '/api/v1/config')).status).toBe(200);
    for (const role of port.keys.keys()) expect((await port.as(role, '/api/v1/config')).status).not.toBe(429);
  });

  test('every change is in the audit log: actor, before and after', async () => {
    const port = await AdminPort.open();
    const from = (await readAudit(port.store.db, { limit: 1 }))[0]!.version;
    await port.asAdmin(KEYS, 'POST', keyDocument('app'));
    const { key: secret } = (await port.asAdmin(`${KEYS}/app/issue`, 'POST')).body as { key: string };
    await port.asAdmin(`${KEYS}/app`, 'PUT', keyDocument('app', { tenant: 'search' }));
    await port.asAdmin(`${KEYS}/app/revoke`, 'POST');
    await port.asAdmin(`${KEYS}/app`, 'DELETE');
    await port.as('operator', `${DEFAULT}/policy`, 'PUT', { routing: { policy: 'weighted' } });
    await port.as('operator', `${DEFAULT}/policy/rollback`, 'POST');
    const local = { id: 'spare', url: 'http://127.0.0.1:9' };
    expect((await port.as('operator', `${DEFAULT}/replicas`, 'POST', local)).status).toBe(403);
    await port.asAdmin(`${DEFAULT}/replicas`, 'POST', local);
    await port.as('operator', `${DEFAULT}/replicas/spare`, 'DELETE');
    await port.as('viewer', KEYS, 'POST', keyDocument('refused'));
    const log = (await readAudit(port.store.db, { after: from })).reverse();
    expect(log.map(({ action, actor, kind, name }) => [actor, action, kind, name])).toEqual([
      ['default/the-admin', 'create', 'ApiKey', 'app'],
      ['default/the-admin', 'issue', 'ApiKey', 'app'],
      ['default/the-admin', 'update', 'ApiKey', 'app'],
      ['default/the-admin', 'revoke', 'ApiKey', 'app'],
      ['default/the-admin', 'delete', 'ApiKey', 'app'],
      ['default/the-admin', 'remove', 'ApiKey', 'app'],
      ['default/the-operator', 'update', 'Policy', 'default'],
      ['default/the-operator', 'update', 'Policy', 'default'],
      ['default/the-admin', 'create', 'Replica', 'spare'],
      ['default/the-operator', 'delete', 'Replica', 'spare'],
    ]);
    expect(log[2]!.after!.spec).toMatchObject({ tenant: 'search' });
    expect([log[6]!.after!.spec, log[7]!.after!.spec]).toMatchObject([
      { routing: { policy: 'weighted' } },
      { routing: { policy: 'round-robin' } },
    ]);
    expect(JSON.stringify(log)).not.toContain(secret);
    expect(JSON.stringify(log)).not.toContain(hashKeySecret(secret));
  });

  test('a key that loses its role, is revoked or deleted is refused at once', async () => {
    const port = await AdminPort.open();
    const issued = async (name: string) => {
      await port.asAdmin(KEYS, 'POST', keyDocument(name, { role: 'operator' }));
      return (await port.asAdmin(`${KEYS}/${name}/issue`, 'POST')).body.key as string;
    };
    const [late, gone] = [await issued('late'), await issued('gone')];
    const asked = (secret: string) => port.ask(`Bearer ${secret}`, '/api/v1/config');
    expect([(await asked(late)).status, (await asked(gone)).status]).toEqual([200, 200]);
    await port.asAdmin(`${KEYS}/late`, 'PUT', keyDocument('late'));
    expect((await asked(late)).status).toBe(403);
    await port.asAdmin(`${KEYS}/late/revoke`, 'POST');
    expect(await asked(late)).toMatchObject({
      status: 401,
      body: { error: { message: expect.stringContaining('revoked') } },
    });
    expect((await port.asAdmin(`${KEYS}/gone`, 'DELETE')).status).toBe(202);
    expect((await asked(gone)).status).toBe(401);
    expect((await port.asAdmin(`${KEYS}/gone`)).status).toBe(404);
  });
});

describe('keys', () => {
  const SPEC = { models: ['m'], role: 'viewer', limits: { '*': { requests_per_minute: 5 } } };

  test('their secret is in the one response that issued it, and in no other', async () => {
    const port = await AdminPort.open();
    expect((await port.asAdmin(KEYS, 'POST', keyDocument('reports', SPEC))).body).toMatchObject({
      ...{ kind: 'ApiKey', spec: SPEC, status: { phase: 'Pending', message: 'no secret has been issued yet' } },
    });
    const issued = await port.asAdmin(`${KEYS}/reports/issue`, 'POST');
    expect([issued.status, issued.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const { key, key_id: id } = issued.body;
    expect(key).toMatch(new RegExp(`^ty_${id}_[\\w-]{43}$`));
    const hash = hashKeySecret(key);
    expect(keyRecordOf((await port.store.resources.byUid(id))!)!.hash).toBe(hash);
    const responses = [
      await port.as('viewer', KEYS),
      await port.asAdmin(`${KEYS}/reports`),
      await port.asAdmin(`${KEYS}?uid=${id}`),
      await port.asAdmin(`${KEYS}/reports`, 'PUT', keyDocument('reports', { ...SPEC, tenant: 't' })),
      await port.asAdmin('/api/v1/audit'),
      await port.asAdmin('/api/v1/events'),
      await port.asAdmin(`${KEYS}/reports/revoke`, 'POST'),
      await port.asAdmin('/api/v1/config'),
    ];
    for (const { status, text } of responses) {
      expect(status).toBe(200);
      for (const secret of [key, key.slice(16), hash]) expect(text).not.toContain(secret);
    }
    expect(responses[1]!.body).toMatchObject({
      metadata: { uid: id },
      status: { phase: 'Active', hint: key.slice(-4) },
    });
    expect(responses[2]!.body.items).toMatchObject([{ metadata: { name: 'reports' } }]);
    expect(responses[6]!.body).toMatchObject({ status: { phase: 'Revoked', revoked_at: expect.any(String) } });
    // Created, issued, changed, revoked.
    expect(port.refreshed).toBe(4);
  });

  test('are rotated, and the secret before is accepted for as long as given', async () => {
    const port = await AdminPort.open();
    await port.asAdmin(KEYS, 'POST', keyDocument('web', { role: 'viewer' }));
    const issue = async (body?: object) => (await port.asAdmin(`${KEYS}/web/issue`, 'POST', body)).body;
    const asked = async ({ key }: { key: string }) => (await port.ask(`Bearer ${key}`, '/api/v1/config')).status;
    const first = await issue();
    const second = await issue({ grace_s: 60 });
    expect([first.previous_until, second.previous_until]).toEqual([null, expect.any(String)]);
    expect([await asked(first), await asked(second)]).toEqual([200, 200]);
    expect((await port.asAdmin(`${KEYS}/web`)).body.status.previous_until).toBe(second.previous_until);
    const third = await issue({ grace_s: 0 });
    expect([await asked(first), await asked(second), await asked(third)]).toEqual([401, 401, 200]);
    expect(await port.asAdmin(`${KEYS}/web/issue`, 'POST', { grace_s: -1 })).toMatchObject({
      status: 400,
      body: { error: { message: 'body (grace_s): -1 is too small' } },
    });
    await port.asAdmin(`${KEYS}/web/revoke`, 'POST');
    expect(await port.asAdmin(`${KEYS}/web/issue`, 'POST')).toMatchObject({
      status: 409,
      body: { error: { code: 'KEY_REVOKED' } },
    });
  });

  test('a secret that is given as a name is not repeated', async () => {
    const port = await AdminPort.open();
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/issue'],
      ['POST', '/revoke'],
      ['GET', '/limits'],
    ] as const) {
      const response = await port.asAdmin(`${KEYS}/ty_planted${path}`, method);
      expect([response.status, response.body.error.code]).toEqual([404, 'RESOURCE_UNKNOWN']);
      expect(response.text).not.toContain('planted');
    }
  });

  test('are changed without a control plane in this process, other resources are not', async () => {
    const port = await AdminPort.open();
    expect((await port.asAdmin(KEYS, 'POST', keyDocument('web'))).status).toBe(201);
    const workspace = { apiVersion: 'twinyard/v1', kind: 'Workspace', metadata: { name: 'w' }, spec: {} };
    const refused = { status: 503, body: { error: { code: 'CONTROL_NOT_OPEN' } } };
    expect(await port.asAdmin('/api/v1/workspaces', 'POST', workspace)).toMatchObject(refused);
    const both = `${JSON.stringify(keyDocument('b'))}\n---\n${JSON.stringify(workspace)}`;
    expect(await port.asAdmin('/api/v1/apply', 'POST', both)).toMatchObject(refused);
    expect((await port.asAdmin('/api/v1/apply', 'POST', keyDocument('c'))).status).toBe(200);
    expect(await port.store.resources.get(keyRef('c'))).not.toBeNull();
  });

  test('need a store', async () => {
    const port = await AdminPort.withoutStore();
    const token = `Bearer ${port.gateway.adminToken}`;
    for (const [method, path] of [
      ['POST', KEYS],
      ['GET', `${KEYS}/none`],
      ['GET', `${KEYS}/none/limits`],
      ['GET', '/api/v1/usage'],
    ] as const) {
      const { body, status } = await port.ask(token, path, method, method === 'GET' ? undefined : keyDocument('n'));
      expect([status, body.error.code, body.error.hint], path).toEqual([
        409,
        'API_NO_STORE',
        expect.stringContaining('--store'),
      ]);
    }
  });

  test('a store that fails gets 503, without its password', async () => {
    const port = await AdminPort.open();
    port.store.resources.page = async () => {
      throw new RunError('STORE_FAILED', 'store postgres://u@h/d: disk full');
    };
    const failed = await port.asAdmin(KEYS);
    expect(failed).toMatchObject({ status: 503, body: { error: { message: 'store postgres://u@h/d: disk full' } } });
    expect(failed.headers.get('retry-after')).toBe('1');
    expect(port.gateway.metrics.faults).toBe(0);
  });

  test('a secret that was issued is returned, even if the gateway cannot read it just now', async () => {
    const port = await AdminPort.open();
    await port.asAdmin(KEYS, 'POST', keyDocument('web'));
    port.gateway.access!.refresh = () => Promise.reject(new RunError('STORE_FAILED', 'store: disk full'));
    expect((await port.asAdmin(`${KEYS}/web/issue`, 'POST')).body.key).toMatch(/^ty_/);
  });
});

describe('usage', () => {
  const row = (keyId: string, model: string, day: string, requests: number): UsageRow => ({
    ...{ keyId, model, endpoint: 'default', day, outcome: 'ok', requests, inputTokens: 10 * requests },
    ...{ cachedTokens: requests, outputTokens: 5 * requests, reasoningTokens: 0, estimatedRequests: 0 },
    ...{ costNanos: 1_500_000 * requests, characters: 0, audioSeconds: 0 },
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

  test('is summed up by key and model unless the query says otherwise', async () => {
    const port = await used();
    const all = (await port.as('viewer', '/api/v1/usage')).body.items;
    expect(all.map(({ key, model, requests }: Record<string, unknown>) => [key, model, requests])).toEqual([
      ['a', 'm', 3],
      ['b', '=cmd|"x",1', 4],
    ]);
    expect((await port.asAdmin('/api/v1/usage?by=key&key=a')).body.items).toEqual([
      {
        ...{ key: 'a', requests: 3, input_tokens: 30, cached_tokens: 3, output_tokens: 15, reasoning_tokens: 0 },
        ...{ characters: 0, audio_seconds: 0, estimated_requests: 0, dollars: 0.0045 },
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

  test('is CSV on demand, and nothing in it is a formula', async () => {
    const port = await used();
    const viewer = `Bearer ${port.keys.get('viewer')}`;
    const csv = await port.ask(viewer, '/api/v1/usage?by=model', 'GET', undefined, { accept: 'text/csv' });
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(csv.text).toBe(
      'model,requests,input_tokens,cached_tokens,output_tokens,reasoning_tokens,characters,audio_seconds,estimated_requests,dollars\r\n' +
        '"\'=cmd|""x"",1",4,40,4,20,0,0,0,0,0.006\r\n' +
        'm,3,30,3,15,0,0,0,0,0.0045\r\n',
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

describe('metrics', () => {
  test('need the token or the role viewer where that is set', async () => {
    const port = await AdminPort.withMetricsToken();
    const statuses: Record<string, number> = {};
    for (const [role, secret] of port.keys) statuses[role] = (await port.ask(`Bearer ${secret}`, '/metrics')).status;
    expect(statuses).toEqual({ none: 403, viewer: 200, operator: 200, admin: 200 });
    expect((await port.ask(`Bearer ${port.gateway.adminToken}`, '/metrics')).status).toBe(200);
    expect((await port.ask('Bearer wrong', '/metrics')).status).toBe(401);
    expect((await port.ask(null, '/metrics')).status).toBe(401);
    expect((await port.ask(null, '/health')).status).toBe(200);
  });

  test('are open unless that is set', async () => {
    const port = await AdminPort.withoutStore();
    expect((await port.ask(null, '/metrics')).status).toBe(200);
  });

  test('need the token once there is a second workspace, also without endpoints', async () => {
    const port = await AdminPort.open();
    const add = (name: string) =>
      port.store.resources.change('alice', (tx) =>
        tx.put({ kind: 'Workspace', workspace: '', name }, { spec: {}, labels: {} }),
      );
    await add('default');
    expect((await port.ask(null, '/metrics')).status).toBe(200);
    await add('other');
    expect((await port.ask(null, '/metrics')).status).toBe(401);
    expect((await port.as('viewer', '/metrics')).status).toBe(200);
  });
});
