import { beforeEach, describe, expect, it } from 'vitest';
import { ask, CHAT, caller, ENDPOINTS, endpoint, host, withFakeApi } from '../fake-api.fixture.js';

withFakeApi();
beforeEach(() => ask(`POST ${ENDPOINTS}`, { body: endpoint({ replicas: 1, secret_env: { HF_TOKEN: 'one' } }) }));

const KEYS = '/api/v1/workspaces/default/apikeys';
const key = (spec: object) => ({ apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'k' }, spec });
const secretOf = async () =>
  (await host.store.revealed({ kind: 'Endpoint', workspace: 'default', name: 'chat' }))!.spec.secret_env;

describe('a patch', () => {
  it('changes what it names, in either form, and nothing else', async () => {
    const merged = await ask(`PATCH ${CHAT}`, { body: { spec: { replicas: 2 }, metadata: { labels: { team: 'a' } } } });
    expect(merged).toMatchObject({
      status: 200,
      body: { metadata: { generation: 2, labels: { team: 'a' } }, spec: { replicas: 2 } },
    });
    const operations = [
      { op: 'test', path: '/spec/replicas', value: 2 },
      { op: 'replace', path: '/spec/replicas', value: 3 },
    ];
    expect((await ask(`PATCH ${CHAT}`, { body: operations })).body.spec.replicas).toBe(3);
    expect((await ask(`PATCH ${CHAT}`, { body: operations })).body.error.message).toContain('differs from the value');
    expect(await secretOf()).toEqual({ HF_TOKEN: 'one' });
  });

  it('can be tried without a change', async () => {
    const dry = await ask(`PATCH ${CHAT}?dry_run=true`, { body: { spec: { replicas: 7 } } });
    expect(dry.body.spec.replicas).toBe(7);
    expect((await ask(`GET ${CHAT}`)).body.spec.replicas).toBe(1);
  });

  it('returns 409 when it is for an earlier version, and is made again when it is for none', async () => {
    const { resource_version: version } = (await ask(`GET ${CHAT}`)).body.metadata;
    await ask(`PATCH ${CHAT}`, { body: { spec: { replicas: 2 } } });
    const late = { spec: { replicas: 3 } };
    expect((await ask(`PATCH ${CHAT}`, { body: late, ifMatch: String(version) })).status).toBe(409);
    const inside = { ...late, metadata: { resource_version: version } };
    expect((await ask(`PATCH ${CHAT}`, { body: inside })).status).toBe(409);
    const many = await Promise.all([4, 5, 6].map((replicas) => ask(`PATCH ${CHAT}`, { body: { spec: { replicas } } })));
    expect(many.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it.each([
    [{ spec: { replicas: -1 } }, 'body (spec.replicas)'],
    [{ spec: { engine: { name: 'none' } } }, 'body (spec.engine.name)'],
    [{ metadata: { name: 'other' } }, 'body (metadata.name): cannot be changed by a patch'],
    [{ metadata: { workspace: 'other' } }, 'body (metadata.workspace): cannot be changed by a patch'],
    [{ kind: 'Engine' }, 'body (kind): cannot be changed by a patch'],
    [{ status: { phase: 'Running' } }, 'body (status): cannot be changed by a patch'],
    [{ spec: null }, 'body (spec.engine): is missing'],
    [[{ op: 'replace', path: '', value: {} }], 'cannot be changed by a patch'],
  ])('%j is refused', async (body, message) => {
    const { body: response, status } = await ask(`PATCH ${CHAT}`, { body });
    expect([400, 422]).toContain(status);
    expect(response.error.message).toContain(message);
  });

  it('needs the role and passes the checks of apply', async () => {
    expect((await ask(`PATCH ${CHAT}`, { as: caller('viewer'), body: { spec: { replicas: 2 } } })).status).toBe(403);
    const local = caller('viewer', { default: 'admin' });
    await ask(`POST ${KEYS}`, { body: key({}) });
    expect((await ask(`PATCH ${KEYS}/k`, { as: local, body: { spec: { role: 'admin' } } })).status).toBe(403);
    expect((await ask(`PATCH ${KEYS}/k`, { as: local, body: { spec: { max_slo_class: 'none' } } })).status).toBe(400);
    expect((await ask(`PATCH ${ENDPOINTS}/none`, { body: {} })).status).toBe(404);
  });
});

describe('revisions', () => {
  it('are the generations of the spec, without secrets, the latest first, and only so many', async () => {
    for (let replicas = 2; replicas <= 25; replicas++) await ask(`PATCH ${CHAT}`, { body: { spec: { replicas } } });
    await ask(`PATCH ${CHAT}`, { body: { metadata: { labels: { a: 'b' } } } });
    const { items } = (await ask(`GET ${CHAT}/revisions`, { as: caller('viewer') })).body;
    expect(items).toHaveLength(20);
    expect(items[0]).toMatchObject({
      revision: 25,
      current: true,
      spec: { replicas: 25, secret_env: { HF_TOKEN: '***' } },
    });
    expect(items.at(-1)).toMatchObject({ revision: 6, current: false, spec: { replicas: 6 } });
    const page = (await ask(`GET ${CHAT}/revisions?limit=2`)).body;
    expect((await ask(`GET ${CHAT}/revisions?limit=2&cursor=${page.next}`)).body.items[0].revision).toBe(23);
  });

  it('are restored with their secrets by a rollback, which is a new generation', async () => {
    await ask(`PATCH ${CHAT}`, { body: { spec: { replicas: 2, secret_env: { HF_TOKEN: 'two' } } } });
    await ask(`PATCH ${CHAT}`, { body: { spec: { replicas: 3 } } });
    const first = (await ask(`POST ${CHAT}/rollback`, { body: { revision: 1 } })).body;
    expect(first).toMatchObject({
      metadata: { generation: 4 },
      spec: { replicas: 1, secret_env: { HF_TOKEN: '***' } },
    });
    expect(await secretOf()).toEqual({ HF_TOKEN: 'one' });
    expect((await ask(`POST ${CHAT}/rollback?dry_run=true`)).body.spec.replicas).toBe(3);
    expect((await ask(`POST ${CHAT}/rollback`)).body).toMatchObject({
      metadata: { generation: 5 },
      spec: { replicas: 3 },
    });
    expect(await secretOf()).toEqual({ HF_TOKEN: 'two' });
  });

  it('that are not kept are refused', async () => {
    expect((await ask(`POST ${CHAT}/rollback`)).body.error).toMatchObject({
      code: 'API_NO_EARLIER_REVISION',
      message: 'Endpoint default/chat: has no earlier revision that is kept',
    });
    expect((await ask(`POST ${CHAT}/rollback`, { body: { revision: 9 } })).body.error).toMatchObject({
      code: 'API_REVISION',
      message: 'body (revision): there is no revision 9',
      hint: 'kept: 1',
    });
  });

  it('are restored only by a caller that may apply them', async () => {
    await ask(`PATCH ${CHAT}`, { body: { spec: { replicas: 2 } } });
    expect((await ask(`POST ${CHAT}/rollback`, { as: caller('viewer') })).status).toBe(403);
    const local = caller('viewer', { default: 'admin' });
    await ask(`POST ${KEYS}`, { body: key({ role: 'admin' }) });
    await ask(`PUT ${KEYS}/k`, { body: key({ role: 'none' }) });
    expect((await ask(`POST ${KEYS}/k/rollback`, { as: local })).status).toBe(403);
    expect((await ask(`POST ${KEYS}/k/rollback`)).body.spec.role).toBe('admin');
  });

  it('of an admin are not restored by an operator, nor patched in', async () => {
    const operator = caller('operator');
    const admins = { spec: { env: { HF_ENDPOINT: 'http://hub.example' } } };
    await ask(`PATCH ${CHAT}`, { body: admins });
    await ask(`PATCH ${CHAT}`, { body: { spec: { env: null } } });
    for (const dryRun of ['', '?dry_run=true']) {
      for (const [line, body] of [
        ['POST /rollback', { revision: 2 }],
        ['PATCH ', admins],
      ] as const) {
        const [method, path] = line.split(' ');
        const { body: response, status } = await ask(`${method} ${CHAT}${path}${dryRun}`, { as: operator, body });
        expect([line, status, response.error?.code]).toEqual([line, 403, 'RESOURCE_NEEDS_ADMIN']);
      }
    }
    expect((await ask(`POST ${CHAT}/rollback`, { as: operator, body: { revision: 1 } })).status).toBe(200);
  });

  it('are deleted with their resource', async () => {
    const { uid } = (await ask(`GET ${CHAT}`)).body.metadata;
    await ask(`DELETE ${CHAT}`);
    await host.store.remove({ kind: 'Endpoint', workspace: 'default', name: 'chat' }, uid);
    expect(await host.store.resources.revisions(uid)).toEqual([]);
  });
});
