import { describe, expect, it } from 'vitest';
import type { ControlStore } from '../../control/store/control-store.js';
import {
  ask,
  CHAT,
  caller,
  drained,
  ENDPOINTS,
  endpoint,
  exchange,
  host,
  runner,
  withFakeApi,
} from '../fake-api.fixture.js';

withFakeApi();

describe('scale', () => {
  it('changes how many there should be and nothing else, secrets included', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint({ secret_env: { TOKEN: 'hush' } }, { labels: { team: 'x' } }) });
    const scaled = await ask(`PUT ${CHAT}/scale`, { body: { replicas: 4 } });
    expect(scaled).toMatchObject({
      status: 200,
      body: { metadata: { generation: 2, labels: { team: 'x' } }, spec: { replicas: 4, secret_env: { TOKEN: '***' } } },
    });
    const ref = { kind: 'Endpoint', workspace: 'default', name: 'chat' };
    expect((await host.store.revealed(ref))!.spec.secret_env).toEqual({ TOKEN: 'hush' });
    expect((await ask('GET /api/v1/audit?name=chat&limit=1')).body).toMatchObject({
      items: [
        { actor: 'alice', action: 'update', before: { spec: { replicas: 1 } }, after: { spec: { replicas: 4 } } },
      ],
    });
  });

  it('is refused for an invalid count, a deleted endpoint, and an outdated version', async () => {
    const made = await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const refused = async (body: unknown) => (await ask(`PUT ${CHAT}/scale`, { body })).body.error.message;
    expect(await refused({ replicas: -1 })).toMatch(/^body \(replicas\): /);
    expect(await refused({ replicas: 'many' })).toMatch(/^body \(replicas\): /);
    expect(await refused({})).toBe('body (replicas): is missing');
    expect(await refused({ replicas: 1, env: {} })).toContain("unknown key 'env'");
    expect(await refused('[]')).toContain('is not a map');
    expect((await ask(`PUT ${ENDPOINTS}/none/scale`, { body: { replicas: 1 } })).status).toBe(404);
    const { resource_version: version } = made.body.metadata as { resource_version: number };
    await ask(`PUT ${CHAT}/scale`, { body: { replicas: 2 } });
    expect(await ask(`PUT ${CHAT}/scale`, { body: { replicas: 3 }, ifMatch: String(version) })).toMatchObject({
      status: 409,
      body: { error: { differences: [{ path: 'spec.replicas', before: 1, after: 2 }] } },
    });
  });

  it('applies to the latest version: a concurrent change does not make it fail', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const { store: real } = host;
    let isFirst = true;
    const slow = Object.create(real, {
      get: {
        value: async (ref: Parameters<typeof real.get>[0]) => {
          const found = await real.get(ref);
          if (isFirst) await ask(`PUT ${CHAT}`, { body: endpoint({ env: { A: 'b' } }) });
          isFirst = false;
          return found;
        },
      },
    }) as ControlStore;
    exchange({ store: slow });
    // What the first look sees is changed before it is used.
    const scaling = ask(`PUT ${CHAT}/scale`, { body: { replicas: 5 } });
    exchange({ store: real });
    expect((await scaling).body).toMatchObject({ spec: { replicas: 5, env: { A: 'b' } } });
  });
});

describe('drain', () => {
  it('is passed to the control plane, and is in the audit log', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint({ replicas: 2 }) });
    runner.start('chat-a', 'default/chat');
    const operator = caller('none', { default: 'operator' });
    expect(await ask(`POST ${CHAT}/replicas/chat-a/drain`, { as: operator })).toMatchObject({
      status: 202,
      body: { status: 'leaving', active: 0 },
    });
    expect(drained).toEqual(['default/chat/chat-a']);
    expect((await ask('GET /api/v1/audit?name=chat-a&limit=1')).body).toMatchObject({
      items: [
        { actor: 'alice', kind: 'Replica', action: 'update', after: { spec: { endpoint: 'chat', leaving: true } } },
      ],
    });
  });

  it('is refused to viewers, and for replicas and endpoints that do not exist', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    runner.start('other-a', 'default/other');
    const refused = (path: string, role: 'viewer' | 'operator' = 'operator') =>
      ask(`POST ${path}/drain`, { as: caller(role) });
    expect(await refused(`${CHAT}/replicas/other-a`)).toMatchObject({
      status: 404,
      body: { error: { code: 'API_REPLICA', message: "endpoint default/chat: no replica 'other-a'" } },
    });
    expect((await refused(`${ENDPOINTS}/none/replicas/other-a`)).status).toBe(404);
    expect((await refused(`${CHAT}/replicas/chat-a`, 'viewer')).status).toBe(403);
    expect(drained).toEqual([]);
  });
});
