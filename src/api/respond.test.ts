import { describe, expect, it, vi } from 'vitest';
import { KINDS } from '../control/resources/kinds.js';
import type { ControlStore } from '../control/store/control-store.js';
import { RunError } from '../kernel/errors.js';
import { KEY_ROLES } from '../store/keys/key-record.js';
import { ask, CHAT, caller, ENDPOINTS, endpoint, exchange, withFakeApi } from './fake-api.fixture.js';
import { paramsIn } from './respond.js';
import { API_ROUTES } from './routes.js';

withFakeApi();

describe('roles', () => {
  const filled = (path: string) => path.replace('{workspace}', 'default').replace(/\{\w+\}/g, 'none');

  it.each(API_ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s returns 403 to every lesser role',
    async (_, { method, path, role, scope }) => {
      const statusFor = async (as: ReturnType<typeof caller>) =>
        (await ask(`${method} ${filled(path)}`, { as, body: 'nonsense' })).status;
      for (const less of KEY_ROLES.slice(0, KEY_ROLES.indexOf(role))) {
        expect(await statusFor(caller(less))).toBe(403);
        // A high role elsewhere is no role here.
        if (scope === 'workspace' || scope === 'global')
          expect(await statusFor(caller(less, { other: 'admin' }))).toBe(403);
        if (scope === 'global') expect(await statusFor(caller(less, { default: 'admin' }))).toBe(403);
      }
      expect(await statusFor(caller(role))).not.toBe(403);
    },
  );

  it('changes take more than the role viewer, except apply, which checks each resource, and what any key may do', () => {
    for (const { method, path, role } of API_ROUTES) {
      if (role === 'none') expect(path).toMatch(FOR_ANY_KEY);
      else if (path !== '/api/v1/apply') expect(role === 'viewer', path).toBe(method === 'GET' && !needsMore(path));
    }
  });
});

/** Its own sessions and usage, and a request with itself. */
const FOR_ANY_KEY = /^\/api\/v1\/(session(\/links)?|(usage|limits)\/own|playground\/(chat|models))$/;

/** Reading logs, recorded traffic, the models behind a registry's token and the audit log takes more than looking. */
const needsMore = (path: string) => /\/(logs|recording|models|audit)(\/|$)/.test(path);

describe('routing', () => {
  it('has no two routes for the same call, and decodes path parameters', () => {
    const called = API_ROUTES.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
    expect(new Set(called).size).toBe(called.length);
    for (const { path } of API_ROUTES) expect(path).toMatch(/^\/api\/v1\//);
    expect(paramsIn('/api/v1/engines/a%20b'.split('/'), '/api/v1/engines/{name}')).toEqual({ name: 'a b' });
    for (const path of ['/api/v1/engines/', '/api/v1/engines/%', '/api/v1/engines', '/api/v1/x/y']) {
      expect(paramsIn(path.split('/'), '/api/v1/engines/{name}')).toBeNull();
    }
  });

  it('splits a path of any length once, and repeats only its beginning', async () => {
    const split = vi.spyOn(String.prototype, 'split');
    const { body, status } = await ask(`GET /api/v1/${'/'.repeat(60_000)}`);
    const long = split.mock.results.filter(({ value }) => Array.isArray(value) && value.length > 1000);
    split.mockRestore();
    expect([status, body.error.message.length < 300, long.length]).toEqual([404, true, 0]);
  });

  it('returns 404 and 405 with the methods there are, and nothing to a caller without a role', async () => {
    expect(await ask('GET /api/v1/nothing')).toMatchObject({
      status: 404,
      body: { error: { code: 'API_PATH_UNKNOWN', message: '/api/v1/nothing: no such path' } },
    });
    expect(await ask(`POST ${CHAT}`)).toMatchObject({
      status: 405,
      headers: ['allow', 'GET, PUT, DELETE, PATCH'],
      body: { error: { code: 'API_METHOD', hint: 'use GET, PUT, DELETE, PATCH' } },
    });
    expect((await ask('GET /api/v1/nothing', { as: caller('none') })).status).toBe(403);
    expect((await ask('HEAD /api/v1/kinds')).body.items).toHaveLength(KINDS.length);
  });

  it('refuses unknown, repeated and malformed query parameters', async () => {
    const errorOf = async (query: string) => (await ask(`GET ${ENDPOINTS}?${query}`)).body.error;
    expect(await errorOf('lables=a')).toMatchObject({ code: 'API_QUERY', hint: expect.stringContaining('labels') });
    expect(await errorOf('limit=1&limit=2')).toMatchObject({ message: '?limit: is given twice' });
    for (const limit of ['0', '1001', 'x', '1.5']) {
      expect(await errorOf(`limit=${limit}`)).toMatchObject({ code: 'API_QUERY' });
    }
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    for (const cursor of ['x', 'WzFd', 'WyJhIl0'])
      expect(await errorOf(`cursor=${cursor}`)).toMatchObject({ message: '?cursor: is not a cursor of this list' });
    for (const key of ['[1.5,"a","b"]', '[1e999,"a","b"]', '[null,"a","b"]', '[1,"a\\u0000","b"]']) {
      const cursor = Buffer.from(key).toString('base64url');
      expect([key, (await errorOf(`sort=created&cursor=${cursor}`)).code]).toEqual([key, 'API_QUERY']);
    }
  });

  it('refuses a body that is nested deeply before it is parsed', async () => {
    const body = `{"apiVersion": ${'['.repeat(200)}`;
    expect(await ask('POST /api/v1/apply', { body })).toMatchObject({
      status: 413,
      body: { error: { code: 'RESOURCE_LIMIT' } },
    });
  });

  it('returns 503 when the store cannot be reached, and hides no bug', async () => {
    const broken = (error: Error) =>
      exchange({ store: { get: () => Promise.reject(error) } as unknown as ControlStore });
    broken(new RunError('STORE_UNREACHABLE', 'gone'));
    expect(await ask('GET /api/v1/engines/vllm')).toMatchObject({ status: 503, headers: ['retry-after', '1'] });
    broken(new TypeError('a bug'));
    await expect(ask('GET /api/v1/engines/vllm')).rejects.toThrow('a bug');
  });
});
