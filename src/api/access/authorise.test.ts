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
    for (const path of ['watch', 'events', 'watch?workspace=other', 'events?workspace=other', 'watch?topics=gateway']) {
      expect((await ask(`GET /api/v1/${path}`, { as: operator })).status).toBe(403);
    }
    expect((await ask('GET /api/v1/events?workspace=default', { as: operator })).status).toBe(200);
    expect((await ask('GET /api/v1/events?kind=Engine', { as: operator })).status).toBe(200);
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
});
