import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChangeFeed } from '../../control/change-feed.js';
import { ControlStore } from '../../control/store/control-store.js';
import { installDefaults } from '../../control/store/install-defaults.js';
import { startGateway } from '../../gateway/fake-engine.fixture.js';
import type { Gateway } from '../../gateway/gateway.js';
import { SecretBox } from '../../store/resources/secrets.js';
import { type ServedApi, serveApi } from '../api-server.js';
import { FakeRunner } from '../fake-runner.fixture.js';
import { API_ROUTES } from '../routes.js';

let gateway: Gateway;
let api: ServedApi;
const opened: (() => unknown)[] = [];

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-session-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  gateway = await startGateway([], { endpoints: [], store: join(folder, 'x.db'), dataDir: join(folder, 'data') });
  opened.push(() => gateway.close(0));
  const store = new ControlStore(gateway.store!, SecretBox.open(join(folder, 'secrets.key')));
  await installDefaults(store);
  const feed = await ChangeFeed.open(store.resources);
  opened.push(() => feed.close());
  api = serveApi(gateway, Promise.resolve({ host: { store, feed, runner: new FakeRunner(), drain: () => true } }));
  gateway.api = api;
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

interface Received {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
  readonly body: any;
}

/** By node:http, because fetch does not let a test choose `host` and `origin`. */
function ask(path: string, { body, headers = {}, method = 'GET' }: Sent = {}): Promise<Received> {
  const { hostname, port } = new URL(gateway.adminUrl);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      const done = () => {
        const isJson = response.headers['content-type'] === 'application/json';
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          body: isJson ? JSON.parse(text) : text,
        });
        sent.destroy();
      };
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      if (response.headers['content-type'] === 'text/event-stream') done();
      else response.on('end', done);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

/** A session with these credentials: the cookie and the CSRF token that its page has. */
async function logIn(credential: string) {
  const { body, headers, status } = await ask('/api/v1/session', { method: 'POST', headers: bearer(credential) });
  expect(status).toBe(201);
  const setCookie = String(headers['set-cookie']);
  return { setCookie, cookie: setCookie.split(';')[0]!, csrf: body.csrf_token as string, body };
}

async function issueKey(name: string, role: string): Promise<string> {
  const key = { apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name }, spec: { role } };
  const keys = '/api/v1/workspaces/default/apikeys';
  const headers = bearer(gateway.adminToken);
  await ask(keys, { method: 'POST', headers, body: JSON.stringify(key) });
  const { body } = await ask(`${keys}/${name}/issue`, { method: 'POST', headers });
  return body.key;
}

const WORKSPACE = JSON.stringify({
  apiVersion: 'twinyard/v1',
  kind: 'Workspace',
  metadata: { name: 'made' },
  spec: {},
});

describe('a session', () => {
  it('is opened by the admin token, returns who the caller is, and ends with the log-out', async () => {
    const { body, cookie, csrf, setCookie } = await logIn(gateway.adminToken);
    expect(setCookie).toMatch(/^twinyard_session_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(body).toMatchObject({ name: 'admin', role: 'admin', has_store: true, has_control: true });
    expect((await ask('/api/v1/session', { headers: { cookie } })).body.csrf_token).toBe(csrf);
    const out = await ask('/api/v1/session', { method: 'DELETE', headers: { cookie, 'x-csrf-token': csrf } });
    expect([out.status, String(out.headers['set-cookie'])]).toEqual([200, expect.stringContaining('Max-Age=0')]);
    expect((await ask('/api/v1/session', { headers: { cookie } })).status).toBe(401);
  });

  it('is not opened by a wrong token, nor for a page of another origin', async () => {
    const wrong = await ask('/api/v1/session', { method: 'POST', headers: bearer('wrong-token') });
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined]);
    const headers = { ...bearer(gateway.adminToken), origin: 'https://evil.example' };
    const other = await ask('/api/v1/session', { method: 'POST', headers });
    expect([other.status, other.body.error.code, other.headers['set-cookie']]).toEqual([
      403,
      'API_CROSS_SITE',
      undefined,
    ]);
  });

  it('changes something only with its CSRF token', async () => {
    const { cookie, csrf } = await logIn(gateway.adminToken);
    const other = await logIn(gateway.adminToken);
    for (const token of [undefined, '', 'x'.repeat(43), other.csrf]) {
      const headers = { cookie, ...(token === undefined ? {} : { 'x-csrf-token': token }) };
      const refused = await ask('/api/v1/workspaces', { method: 'POST', headers, body: WORKSPACE });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'API_CROSS_SITE']);
    }
    const headers = { cookie, 'x-csrf-token': csrf };
    expect((await ask('/api/v1/workspaces', { method: 'POST', headers, body: WORKSPACE })).status).toBe(201);
  });

  it('refuses pages of other origins, also to read, and also on another port of this machine', async () => {
    const { cookie, csrf } = await logIn(gateway.adminToken);
    const own = gateway.adminUrl;
    const status = async (more: Record<string, string>) =>
      (await ask('/api/v1/session', { headers: { cookie, 'x-csrf-token': csrf, ...more } })).status;
    expect(await status({ origin: own })).toBe(200);
    for (const origin of ['http://127.0.0.1:1', 'https://evil.example', 'null'])
      expect(await status({ origin })).toBe(403);
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await status({ 'sec-fetch-site': 'same-site' })).toBe(403);
  });

  it('refuses a name that another site has rebound to this address', async () => {
    const { cookie } = await logIn(gateway.adminToken);
    const { port } = new URL(gateway.adminUrl);
    for (const path of ['/', '/api/v1/session']) {
      const rebound = await ask(path, { headers: { host: `evil.example:${port}`, cookie, accept: 'text/html' } });
      expect([path, rebound.status, rebound.body.error.code]).toEqual([path, 403, 'API_FORBIDDEN']);
    }
  });

  it('ends when its key is revoked', async () => {
    const { cookie } = await logIn(await issueKey('leaving', 'viewer'));
    expect((await ask('/api/v1/session', { headers: { cookie } })).body).toMatchObject({
      ...{ name: 'default/leaving', role: 'viewer' },
    });
    const path = '/api/v1/workspaces/default/apikeys/leaving/revoke';
    expect((await ask(path, { method: 'POST', headers: bearer(gateway.adminToken) })).status).toBe(200);
    expect((await ask('/api/v1/session', { headers: { cookie } })).status).toBe(401);
  });

  it('of a new log-in replaces the one that the browser had', async () => {
    const { cookie } = await logIn(gateway.adminToken);
    const headers = { ...bearer(gateway.adminToken), cookie };
    expect((await ask('/api/v1/session', { method: 'POST', headers })).status).toBe(201);
    expect((await ask('/api/v1/session', { headers: { cookie } })).status).toBe(401);
  });

  it('returns no secret', async () => {
    const secret = await issueKey('shown', 'admin');
    const { cookie, csrf } = await logIn(secret);
    const headers = { cookie, 'x-csrf-token': csrf };
    const id = cookie.split('=')[1]!;
    for (const { method, path } of API_ROUTES) {
      if (method !== 'GET' || path.includes('{') || path.endsWith('/watch')) continue;
      const { text } = await ask(path, { headers });
      for (const one of [secret, gateway.adminToken, id]) expect([path, text.includes(one)]).toEqual([path, false]);
    }
  });
});

describe('a login link', () => {
  it('opens one session and is void then, and its token opens nothing else', async () => {
    const link = new URL(api.loginLink());
    expect([link.origin, link.pathname, link.search]).toEqual([gateway.adminUrl, '/', '']);
    const token = link.hash.replace('#login=', '');
    expect((await ask('/api/v1/kinds', { headers: bearer(token) })).status).toBe(401);
    const { body, cookie } = await logIn(token);
    expect(body).toMatchObject({ name: 'admin', role: 'admin' });
    expect((await ask('/api/v1/session', { headers: { cookie } })).status).toBe(200);
    const again = await ask('/api/v1/session', { method: 'POST', headers: bearer(token) });
    expect([again.status, again.body.error.message]).toEqual([
      401,
      'the login link was used before, or is too old: log in with the admin token, or get another link',
    ]);
  });

  it("of a caller has the caller's rights", async () => {
    const key = await issueKey('linking', 'viewer');
    const { body } = await ask('/api/v1/session/links', { method: 'POST', headers: bearer(key) });
    const { body: session } = await logIn(body.path.replace('/#login=', ''));
    expect(session).toMatchObject({ name: 'default/linking', role: 'viewer' });
  });
});

describe('the session of a viewer', () => {
  /** What every caller may do with its own session. */
  const OWN = '/api/v1/session';
  /** A request to a model with the key of the visitor, whose limits apply. */
  const CHAT = '/api/v1/playground/chat';

  it('cannot change anything by any route', async () => {
    const { cookie, csrf } = await logIn(await issueKey('watching', 'viewer'));
    const headers = { cookie, 'x-csrf-token': csrf };
    const before = gateway.store!.resources;
    const version = (await before.audit({ limit: 1 }))[0]!.version;
    const changing = API_ROUTES.filter(
      ({ method, path }) => method !== 'GET' && !path.startsWith(OWN) && path !== CHAT,
    );
    expect(changing.length).toBeGreaterThan(40);
    for (const { method, path } of changing) {
      const at = path.replace('{workspace}', 'default').replace(/\{\w+\}/g, 'x');
      const { body, status } = await ask(at, { method, headers, body: '{}' });
      expect([method, path, status, body.error.code]).toEqual([method, path, 403, 'API_FORBIDDEN']);
    }
    expect((await before.audit({ limit: 1 }))[0]!.version).toBe(version);
  });

  it('without its CSRF token does not even reach the check of its role', async () => {
    const { cookie } = await logIn(await issueKey('reading', 'viewer'));
    for (const { method, path } of API_ROUTES.filter((one) => one.method !== 'GET')) {
      const at = path.replace('{workspace}', 'default').replace(/\{\w+\}/g, 'x');
      const { body } = await ask(at, { method, headers: { cookie }, body: '{}' });
      expect([path, body.error.code]).toEqual([path, 'API_CROSS_SITE']);
    }
  });
});
