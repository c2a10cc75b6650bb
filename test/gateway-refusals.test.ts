import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { explainRequest } from '../src/cli/explain/explain-decision.js';
import { GATEWAY_DEFAULTS, type GatewayConfig } from '../src/gateway/config/gateway-config.js';
import { configFor } from '../src/gateway/fake-engine.fixture.js';
import { Gateway } from '../src/gateway/gateway.js';
import { definedClasses } from '../src/store/keys/key-classes.js';
import { newKey as storedKey } from '../src/store/keys/new-key.fixture.js';
import { openStore } from '../src/store/open-store.js';
import { fakeEngine, question, until } from './support/engine-fixture.js';
import { afterwards, gatewayOver } from './support/gateway-fixture.js';

const root = mkdtempSync(join(tmpdir(), 'twinyard-refusals-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;

function withStore(): Pick<GatewayConfig, 'store' | 'dataDir' | 'access'> {
  const dataDir = join(root, String(folders++));
  return { store: ':memory:', dataDir, access: { ...GATEWAY_DEFAULTS.access, keys: 'required' } };
}

const KEYS = '/api/v1/workspaces/default/apikeys';

let keys = 0;

async function newKey(gateway: Gateway, spec: Parameters<typeof storedKey>[2] = {}) {
  const name = `app-${keys++}`;
  const { id, secret } = await storedKey(gateway.store!, name, spec);
  return { id, name, text: secret };
}

async function ask(gateway: Gateway, id: string, key: string, change: object = {}, headers: object = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-request-id': id, ...headers },
    body: JSON.stringify(question('hello', { max_tokens: 3, ...change })),
  });
  await response.text();
  return response;
}

async function admin(gateway: Gateway, path: string, method = 'GET', body?: unknown) {
  const response = await fetch(gateway.adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe('the explanation of a refused request', () => {
  test('explains what the client received: a limit, an unknown model, or no replica', async () => {
    const engine = await fakeEngine();
    const gateway = await gatewayOver([engine], withStore());
    const { id: keyId, text } = await newKey(gateway, { limits: { '*': { requests_per_minute: 1 } } });
    const { text: elsewhere } = await newKey(gateway, { models: ['another'] });
    const { text: free } = await newKey(gateway);
    const told = async (id: string) => (await admin(gateway, `/api/v1/decisions/${id}`)).body;

    expect((await ask(gateway, 'served', text)).status).toBe(200);
    expect((await told('served')).refused).toBeUndefined();
    const limited = await ask(gateway, 'limited', text);
    const explained = await told('limited');
    expect(explained).toMatchObject({
      id: 'limited',
      refused: {
        ...{ endpoint: 'default', key: keyId, status: 429, code: 'rate_limit_exceeded', by: 'over a limit' },
        limit: { name: 'requests_per_minute', scope: '*', most: 1, left: 0, needed: 1 },
        retryAfterS: Number(limited.headers.get('retry-after')),
      },
    });
    expect(explainRequest(explained)).toContain('request limited: refused with 429 (rate_limit_exceeded)\n');
    expect((await ask(gateway, 'forbidden', elsewhere)).status).toBe(403);
    expect((await told('forbidden')).refused).toMatchObject({ status: 403, by: 'its key may not use the model' });
    expect((await ask(gateway, 'unknown', free, { model: 'planted-text' })).status).toBe(404);
    const unknown = await told('unknown');
    expect(unknown.refused).toMatchObject({ status: 404, by: 'no replica serves the model', endpoint: null });
    expect(JSON.stringify(unknown)).not.toContain('planted');
    expect((await ask(gateway, 'wrong', 'sk-planted')).status).toBe(401);
    expect((await admin(gateway, '/api/v1/decisions/wrong')).status).toBe(404);
  });

  test('explains requests that admission or the queue refused', async () => {
    const gateway = await gatewayOver([await fakeEngine()], withStore());
    const { text } = await newKey(gateway);
    const policy = { admission: { policy: 'reject-all' } };
    expect((await admin(gateway, '/api/v1/workspaces/default/endpoints/default/policy', 'PUT', policy)).status).toBe(
      200,
    );
    const refused = await ask(gateway, 'kept-out', text);
    expect(refused.status).toBe(429);
    const { body } = await admin(gateway, '/api/v1/decisions/kept-out');
    expect(body.refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded', endpoint: 'default', limit: null });
    expect(body.refused.by).not.toBe('');
    expect(body.refused.retryAfterS).toBe(
      refused.headers.has('retry-after') ? Number(refused.headers.get('retry-after')) : null,
    );
  });
});

describe('the remaining limits', () => {
  test('are shown by the admin API', async () => {
    const gateway = await gatewayOver([await fakeEngine()], withStore());
    const { id, name, text } = await newKey(gateway, {
      limits: { '*': { requests_per_minute: 5 }, fake: { concurrent: 2 } },
    });
    await ask(gateway, 'a', text);
    await until(() => gateway.inFlight === 0);
    const { body, status } = await admin(gateway, `${KEYS}/${name}/limits`);
    expect([status, body]).toMatchObject([
      200,
      {
        id,
        limits: {
          '*': { requests_per_minute: { limit: 5, used: 1, left: 4 } },
          fake: { concurrent: { limit: 2, used: 0, left: 2, reset_s: null } },
        },
      },
    ]);
    expect(await admin(gateway, `${KEYS}/none/limits`)).toMatchObject({ status: 404 });
    const open = await gatewayOver([await fakeEngine()], {
      ...withStore(),
      access: { ...GATEWAY_DEFAULTS.access, keys: 'off' },
    });
    const { name: unlimited } = await newKey(open);
    expect(await admin(open, `${KEYS}/${unlimited}/limits`)).toMatchObject({ status: 409 });
  });
});

describe('classes that a policy defines', () => {
  test('are known to keys and recordings as soon as they are defined', async () => {
    const path = join(root, 'traffic.jsonl');
    const record = { path, maxBytes: 1e6, files: 1 };
    const gateway = await gatewayOver([await fakeEngine()], { ...withStore(), record });
    const metadata = { name: 'golden' };
    const key = { apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata, spec: { max_slo_class: 'gold' } };
    const create = () => admin(gateway, KEYS, 'POST', key);
    const early = await create();
    expect([early.status, early.body.error.message]).toEqual([
      400,
      expect.stringContaining("defines the class 'gold'"),
    ]);
    const { text } = await newKey(gateway);
    await ask(gateway, 'before', text, {}, { 'x-slo-class': 'gold' });
    const policy = { admission: { slo_priorities: { gold: 2 } } };
    expect((await admin(gateway, '/api/v1/workspaces/default/endpoints/default/policy', 'PUT', policy)).status).toBe(
      200,
    );
    const { body: made } = await create();
    expect(made).toMatchObject({ spec: { max_slo_class: 'gold' } });
    const { key: secret } = (await admin(gateway, `${KEYS}/golden/issue`, 'POST')).body;
    await ask(gateway, 'after', text, {}, { 'x-slo-class': 'gold' });
    // A key that may claim gold counts as gold when it claims more.
    await ask(gateway, 'more', secret, {}, { 'x-slo-class': 'critical' });
    await until(() => gateway.inFlight === 0);
    gateway.traffic.services.recorder!.flush();
    const classes = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).slo_class);
    expect(classes).toEqual([expect.stringMatching(/^[\w-]{11}$/), 'gold', 'gold']);
  });

  test('are published to all gateways on the store', async () => {
    const engine = await fakeEngine();
    const [endpoint] = configFor([engine]).endpoints;
    const policy = { ...endpoint!.policy, sloPriorities: { gold: 9 } };
    const gateway = await gatewayOver([engine], { ...withStore(), endpoints: [{ ...endpoint!, policy }] });
    expect(await definedClasses(gateway.store!)).toEqual(['gold']);
  });
});

test('a data or store folder that cannot be created is reported at once', async ({ skip }) => {
  skip(!existsSync('/proc/self'), 'there is no /proc here');
  const gateway = new Gateway(configFor([], { ...withStore(), dataDir: '/proc/twinyard/data' }));
  afterwards(() => gateway.close(0));
  await expect(gateway.start()).rejects.toMatchObject({
    code: 'JOURNAL_NOT_WRITABLE',
    problem: 'the usage journal cannot be written there (its folder does not exist)',
  });
  await expect(openStore('/proc/twinyard/keys.db')).rejects.toMatchObject({
    code: 'STORE_PERMISSION',
    problem: 'its folder cannot be created',
  });
});
