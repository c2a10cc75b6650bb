import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_KINDS, API_PATHS } from '../protocol/endpoints.js';
import { newKey, putKey } from '../store/keys/new-key.fixture.js';
import { GATEWAY_DEFAULTS } from './config/gateway-config.js';
import { FakeEngine, sendJson, startGateway } from './fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from './fleet/managed.fixture.js';
import type { Gateway } from './gateway.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-workspaces-'));
let gateway: Gateway;
let [ofA, ofB, ofFile]: FakeEngine[] = [];
const secrets: Record<string, string> = {};

beforeAll(async () => {
  [ofA, ofB, ofFile] = [await FakeEngine.start(), await FakeEngine.start(), await FakeEngine.start()];
  ofFile.models = ['f'];
  const access = { ...GATEWAY_DEFAULTS.access, keys: 'required' as const };
  const http = { ...GATEWAY_DEFAULTS.http, unknownPaths: 'pass' as const };
  const place = { store: join(folder, 'x.db'), dataDir: folder };
  gateway = await startGateway([ofFile], { ...place, access, http, waitMs: 0 });
  gateway.routes.put(
    managedEndpoint([managedReplica('a', ofA.url, { models: ['m', 'both'] })], { workspace: 'a', models: ['m'] }),
  );
  gateway.routes.put(
    managedEndpoint([managedReplica('b', ofB.url, { models: ['secret', 'both', 'open'] })], {
      workspace: 'b',
      models: ['secret', 'paused'],
    }),
  );
  gateway.routes.put(managedEndpoint([], { workspace: 'b', name: 'starting', waitsFor: 'the model is downloaded' }));
  const put = async (name: string, workspace: string, spec: Parameters<typeof putKey>[2] = {}) => {
    secrets[name] = (await newKey(gateway.store!, name, spec, workspace)).secret;
  };
  await put('a', 'a');
  await put('b', 'b');
  await put('default', 'default');
  await put('granted', 'a', { grants: [{ workspace: 'b', models: ['open'] }] });
  await put('whole', 'a', { grants: [{ workspace: 'b' }] });
  await put('global', 'a', { grants: [{ workspace: '*' }] });
  await put('listed', 'a', { models: ['m', 'secret'] });
});

afterAll(async () => {
  await gateway.close(0);
  for (const engine of [ofA, ofB, ofFile]) await engine!.kill();
  rmSync(folder, { recursive: true });
});

interface Sent {
  readonly model?: string | null;
  readonly headers?: Record<string, string>;
  readonly more?: object;
}

/** What a key gets for a request: status, replica and body, without the request's id and name of the model. */
async function sent(key: string, path: string, { headers = {}, model = 'm', more = {} }: Sent = {}) {
  const form = new FormData();
  form.append('file', new Blob(['x']), 'x.wav');
  if (model !== null) form.append('model', model);
  const isForm = path.includes('/audio/tr');
  const json = { ...(model === null ? {} : { model }), messages: [{ role: 'user', content: 'hi' }], ...more };
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets[key]}`, ...headers },
    body: isForm ? form : JSON.stringify({ ...json, prompt: 'p', input: 'i', query: 'q', documents: ['d'] }),
  });
  const text = (await response.text()).replace(`'${model}'`, "'MODEL'").replace(/"request_id":"[^"]*"/, '');
  return { status: response.status, replica: response.headers.get('x-twinyard-replica'), text };
}

const get = async (key: string, path: string) => {
  const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${secrets[key]}` } });
  return { status: response.status, body: (await response.json()) as { data?: { id: string }[]; id?: string } };
};

const listed = async (key: string, path = '/v1/models') =>
  (await get(key, path)).body.data?.map(({ id }) => id) ?? (await get(key, path)).status;

const ROUTES = [...API_PATHS.keys(), '/v1/files', '/v1/batches'];

describe('a key of a workspace', () => {
  it.each(ROUTES)('reaches its own models and no others by %s', async (path) => {
    const own = await sent('a', path);
    expect([own.status, own.replica]).toEqual([200, 'a']);
    const unknown = await sent('a', path, { model: 'nowhere' });
    expect(unknown).toMatchObject({ status: 404, replica: null });
    const before = ofB!.seen.length;
    for (const model of ['secret', 'paused', 'f', 'SECRET', 'b/secret', 'b/chat']) {
      expect(await sent('a', path, { model }), model).toEqual(unknown);
    }
    const headers = { 'x-workspace': 'b', 'x-twinyard-workspace': 'b', 'x-model': 'secret', model: 'secret' };
    expect(await sent('a', `${path}?workspace=b&model=secret&endpoint=chat`, { model: 'secret', headers })).toEqual(
      unknown,
    );
    const missing = await sent('a', `/workspace/b/endpoint/none${path}`, { model: 'secret' });
    expect(missing.status).toBe(404);
    for (const name of ['chat', 'starting', 'c%68at']) {
      const foreign = await sent('a', `/workspace/b/endpoint/${name}${path}`, { model: 'secret' });
      expect({ ...foreign, text: foreign.text.replace(/'(?:chat|starting)'/, "'none'") }).toEqual(missing);
    }
    expect(ofB!.seen.length).toBe(before);
  });

  it('uses the replicas of its workspace for a name that two workspaces have', async () => {
    for (let i = 0; i < 4; i++) {
      expect((await sent('a', '/v1/chat/completions', { model: 'both' })).replica).toBe('a');
      expect((await sent('b', '/v1/chat/completions', { model: 'both' })).replica).toBe('b');
      expect((await sent('global', '/v1/chat/completions', { model: 'both' })).replica).toBe('a');
    }
  });

  it('lists what it reaches, and describes no other model', async () => {
    expect(await listed('a')).toEqual(['both', 'm']);
    expect(await listed('b')).toEqual(['both', 'open', 'secret']);
    expect(await listed('default')).toEqual(['f']);
    expect(await listed('granted')).toEqual(['both', 'm', 'open']);
    expect(await listed('global')).toEqual(['both', 'f', 'm', 'open', 'secret']);
    expect(await listed('a', '/workspace/b/endpoint/chat/v1/models')).toBe(404);
    expect(await listed('granted', '/workspace/b/endpoint/chat/v1/models')).toEqual(['open']);
    expect((await get('a', '/v1/models/secret')).status).toBe(404);
    expect((await get('b', '/v1/models/secret')).body.id).toBe('secret');
  });

  it('uses the only model that it reaches where a request names none', async () => {
    const optional = Object.values(API_KINDS).filter(({ modelIsOptional }) => modelIsOptional === true);
    const paths = optional.flatMap(({ paths }) => paths);
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) {
      expect(await sent('default', path, { model: null })).toMatchObject({ status: 200, replica: 'r0' });
      // Two models are within its reach.
      expect((await sent('a', path, { model: null })).status).toBe(400);
    }
  });

  it('gets 403 for a model that is not on its list, whether or not it exists', async () => {
    const refusals = await Promise.all(
      ['open', 'nowhere'].map((model) => sent('listed', '/v1/chat/completions', { model })),
    );
    expect(refusals[0]).toEqual(refusals[1]);
    expect(refusals[0]!.status).toBe(403);
    // On its list, and in a workspace that it does not reach.
    expect((await sent('listed', '/v1/chat/completions', { model: 'secret' })).status).toBe(404);
  });
});

describe('a grant', () => {
  it('opens the models it names in the other workspace, by model and by path', async () => {
    expect(await sent('granted', '/v1/messages', { model: 'open' })).toMatchObject({ status: 200, replica: 'b' });
    const path = '/workspace/b/endpoint/chat/v1/completions';
    expect(await sent('granted', path, { model: 'open' })).toMatchObject({ status: 200, replica: 'b' });
    const unknown = await sent('granted', path, { model: 'nowhere' });
    expect(unknown.status).toBe(404);
    expect(await sent('granted', path, { model: 'secret' })).toEqual(unknown);
    expect((await sent('granted', '/v1/completions', { model: 'secret' })).status).toBe(404);
  });

  it('without models opens all of them, and nothing of a third workspace', async () => {
    expect((await sent('whole', '/v1/completions', { model: 'secret' })).replica).toBe('b');
    expect((await sent('whole', '/v1/completions', { model: 'f' })).status).toBe(404);
    expect((await sent('global', '/v1/completions', { model: 'f' })).replica).toBe('r0');
  });

  it('that is withdrawn ends at once, also for stored responses', async () => {
    const store = gateway.store!;
    secrets.moving = (await newKey(store, 'moving', { grants: [{ workspace: 'b' }] }, 'a')).secret;
    ofB!.answer = ({ response }) => sendJson(response, 200, { id: 'resp_of_b', object: 'response' });
    expect((await sent('moving', '/v1/responses', { model: 'secret' })).status).toBe(200);
    const stored = '/v1/responses/resp_of_b';
    expect((await get('moving', stored)).status).toBe(200);
    expect((await get('b', stored)).status).toBe(404);
    expect(
      (await sent('b', '/v1/responses', { model: 'open', more: { previous_response_id: 'resp_of_b' } })).status,
    ).toBe(404);
    // A replica elsewhere that repeats the id does not take the response over.
    ofA!.answer = ({ response }) => sendJson(response, 200, { id: 'resp_of_b', object: 'response' });
    expect((await sent('a', '/v1/responses')).status).toBe(200);
    expect([(await get('a', stored)).status, (await get('moving', stored)).status]).toEqual([404, 200]);
    await putKey(store, 'moving', {}, 'a');
    expect((await get('moving', stored)).status).toBe(404);
    expect((await sent('moving', '/v1/responses', { model: 'secret' })).status).toBe(404);
  });
});
