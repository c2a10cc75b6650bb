import { describe, expect, it } from 'vitest';
import { RunError } from '../../kernel/errors.js';
import { KINDS } from '../resources/kinds.js';
import type { ControlStore } from '../store/control-store.js';
import type { ControlHost, ControlResponse } from './control-route.js';
import { ADMIN, ask, CHAT, caller, host, withFakeApi } from './fake-api.fixture.js';
import { CONTROL_ROUTES, isControlPath, paramsIn, respondControl } from './routes.js';

withFakeApi();

describe('roles', () => {
  const ROLES = ['none', 'viewer', 'operator', 'admin'] as const;
  const filled = (path: string) => path.replace('{workspace}', 'default').replace('{name}', 'nobody');

  it.each(CONTROL_ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s is refused to all who are less than it asks for',
    async (_, { method, path, role, scope }) => {
      for (const less of ROLES.slice(0, ROLES.indexOf(role))) {
        expect((await ask(`${method} ${filled(path)}`, { as: caller(less) })).status).toBe(403);
        // A high role elsewhere is no role here.
        if (scope === 'workspace' || scope === 'global') {
          expect((await ask(`${method} ${filled(path)}`, { as: caller(less, { other: 'admin' }) })).status).toBe(403);
        }
        if (scope === 'global') {
          expect((await ask(`${method} ${filled(path)}`, { as: caller(less, { default: 'admin' }) })).status).toBe(403);
        }
      }
      const allowed = await ask(`${method} ${filled(path)}`, { as: caller(role), body: 'nonsense' });
      expect(allowed.status).not.toBe(403);
    },
  );
});

describe('the table of routes', () => {
  it('has no two that answer the same, and finds what paths name', () => {
    const called = CONTROL_ROUTES.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
    expect(new Set(called).size).toBe(called.length);
    expect(paramsIn('/api/v1/engines/a%20b', '/api/v1/engines/{name}')).toEqual({ name: 'a b' });
    for (const path of ['/api/v1/engines/', '/api/v1/engines/%', '/api/v1/engines', '/api/v1/x/y']) {
      expect(paramsIn(path, '/api/v1/engines/{name}')).toBeNull();
    }
    expect([isControlPath('/api/v1/kinds'), isControlPath('/api/keys')]).toEqual([true, false]);
  });

  it('refuses other paths and methods', async () => {
    expect((await ask('GET /api/v1/nothing')).status).toBe(404);
    expect(await ask(`PATCH ${CHAT}`)).toMatchObject({ status: 405, headers: ['allow', 'GET, PUT, DELETE'] });
    expect((await ask('GET /api/v1/nothing', { as: caller('none') })).status).toBe(403);
    expect((await ask('HEAD /api/v1/kinds')).body.items).toHaveLength(KINDS.length);
  });

  it('says when the store cannot be asked, and hides no bug', async () => {
    const broken = (error: Error): ControlHost => ({
      ...host,
      store: { list: () => Promise.reject(error) } as unknown as ControlStore,
    });
    const call = {
      method: 'GET',
      path: '/api/v1/engines',
      query: new URLSearchParams(),
      body: async () => '',
      signal: new AbortController().signal,
    };
    const lost = (await respondControl(
      broken(new RunError('STORE_UNREACHABLE', 'gone')),
      ADMIN,
      call,
    )) as ControlResponse;
    expect(lost).toMatchObject({ status: 503, headers: ['retry-after', '1'] });
    await expect(respondControl(broken(new TypeError('a bug')), ADMIN, call)).rejects.toThrow('a bug');
  });
});
