import { describe, expect, it } from 'vitest';
import { ask, caller, ENDPOINTS, endpoint, withFakeApi } from '../fake-api.fixture.js';

withFakeApi();

describe('roles', () => {
  it('in a workspace allow changes there and nowhere else', async () => {
    const operator = caller('none', { default: 'operator' });
    expect((await ask(`POST ${ENDPOINTS}`, { as: operator, body: endpoint() })).status).toBe(201);
    expect((await ask('POST /api/v1/apply', { as: operator, body: endpoint({ replicas: 2 }) })).status).toBe(200);
    const elsewhere = endpoint({}, { workspace: 'other' });
    expect((await ask('POST /api/v1/apply', { as: operator, body: elsewhere })).status).toBe(403);
    const workspace = { apiVersion: 'twinyard/v1', kind: 'Workspace', metadata: { name: 'w' }, spec: {} };
    expect((await ask('POST /api/v1/apply', { as: operator, body: workspace })).body.error).toEqual({
      code: 'API_FORBIDDEN',
      message: 'requires the role admin in every workspace; the caller has the role none',
      hint: 'use a key with that role',
    });
    expect((await ask('GET /api/v1/engines', { as: operator })).status).toBe(200);
    for (const path of ['watch?workspace=other', 'events?workspace=other', 'watch?topics=gateway']) {
      expect((await ask(`GET /api/v1/${path}`, { as: operator })).status).toBe(403);
    }
    expect((await ask('GET /api/v1/events?workspace=default', { as: operator })).status).toBe(200);
    expect((await ask('GET /api/v1/events?kind=Engine', { as: operator })).status).toBe(200);
  });

  it('that may change nothing anywhere are refused by apply, dry run included, before the body is read', async () => {
    for (const as of [caller('viewer'), caller('none', { default: 'viewer' })]) {
      for (const query of ['', '?dry_run=true']) {
        expect(await ask(`POST /api/v1/apply${query}`, { as, body: '['.repeat(1_000_000) })).toMatchObject({
          status: 403,
          body: { error: { code: 'API_FORBIDDEN' } },
        });
      }
    }
  });

  it('cannot be raised by a key: only a caller with the role in every workspace can create or change a key with it', async () => {
    const key = (role: string) => ({
      apiVersion: 'twinyard/v1',
      kind: 'ApiKey',
      metadata: { name: 'k' },
      spec: { role },
    });
    const keys = '/api/v1/workspaces/default/apikeys';
    const local = caller('viewer', { default: 'admin' });
    expect((await ask(`POST ${keys}`, { as: local, body: key('admin') })).status).toBe(403);
    expect((await ask('POST /api/v1/apply', { as: local, body: key('operator') })).status).toBe(403);
    expect((await ask(`POST ${keys}`, { body: key('admin') })).status).toBe(201);
    expect((await ask(`PUT ${keys}/k`, { as: local, body: key('none') })).status).toBe(403);
    expect((await ask(`DELETE ${keys}/k`, { as: local })).status).toBe(403);
    await ask(`PUT ${keys}/k`, { body: key('none') });
    expect((await ask(`DELETE ${keys}/k`, { as: local })).status).toBe(202);
  });

  it('give a key a foreign workspace only by an admin of that workspace', async () => {
    const workspace = (name: string) => ({
      apiVersion: 'twinyard/v1',
      kind: 'Workspace',
      metadata: { name },
      spec: {},
    });
    for (const name of ['a', 'b']) await ask('POST /api/v1/workspaces', { body: workspace(name) });
    const keys = '/api/v1/workspaces/a/apikeys';
    const key = (...grants: object[]) => ({
      ...{ apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'k', workspace: 'a' } },
      spec: { grants },
    });
    const toB = key({ workspace: 'b', models: ['m'] });
    const [ofA, ofB] = [caller('none', { a: 'admin' }), caller('none', { b: 'admin' })];
    const refused = [
      caller('operator', { a: 'admin' }),
      ...(['none', 'viewer', 'operator'] as const).map((role) => caller(role, { a: 'admin', b: 'operator' })),
      ofA,
      ofB,
    ];
    for (const as of refused) {
      for (const body of [toB, key({ workspace: '*' }), key({ workspace: 'nowhere' })]) {
        expect((await ask(`POST ${keys}`, { as, body })).status).toBe(403);
        expect((await ask(`PUT ${keys}/k`, { as, body })).status).toBe(403);
        for (const query of ['', '?dry_run=true']) {
          expect((await ask(`POST /api/v1/apply${query}`, { as, body })).status).toBe(403);
        }
      }
    }
    const ofBoth = caller('none', { a: 'admin', b: 'admin' });
    expect((await ask(`POST ${keys}`, { as: ofBoth, body: key({ workspace: '*' }) })).status).toBe(403);
    expect((await ask(`POST ${keys}`, { as: ofBoth, body: toB })).status).toBe(201);
    // Without a role there, the key can be narrowed, revoked and deleted, and no secret of it is to be had.
    expect((await ask(`POST ${keys}/k/issue`, { as: ofA })).status).toBe(403);
    expect((await ask(`PUT ${keys}/k`, { as: ofA, body: { ...toB, spec: { ...toB.spec, tenant: 't' } } })).status).toBe(
      403,
    );
    expect((await ask(`POST ${keys}/k/issue`, { as: ofBoth })).status).toBe(200);
    expect((await ask('DELETE /api/v1/workspaces/b')).body.error.message).toContain('is used by ApiKey a/k');
    expect((await ask(`PUT ${keys}/k`, { as: ofA, body: key() })).status).toBe(200);
    expect((await ask(`PUT ${keys}/k`, { as: ofBoth, body: toB })).status).toBe(200);
    expect((await ask(`POST ${keys}/k/revoke`, { as: ofA })).status).toBe(200);
    expect((await ask(`DELETE ${keys}/k`, { as: ofA })).status).toBe(202);
  });

  it('of one workspace do not show by errors which others exist', async () => {
    await ask('POST /api/v1/workspaces', {
      body: { apiVersion: 'twinyard/v1', kind: 'Workspace', metadata: { name: 'hidden' }, spec: {} },
    });
    const body = {
      ...{ apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'k' } },
      spec: { wrong: 1, grants: [{ workspace: 'hiden' }] },
    };
    const problemsFor = async (as: ReturnType<typeof caller>) =>
      JSON.stringify((await ask('POST /api/v1/apply', { as, body })).body);
    expect(await problemsFor(caller('none', { default: 'admin' }))).not.toContain('hidden');
    expect(await problemsFor(caller('admin'))).toContain('hidden');
  });
});
