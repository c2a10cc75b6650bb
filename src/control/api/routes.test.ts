import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunError } from '../../kernel/errors.js';
import type { KeyRole } from '../../store/key-record.js';
import { openStore, type Store } from '../../store/open-store.js';
import type { ResourceRecord } from '../../store/resource-record.js';
import { SecretBox } from '../../store/secrets.js';
import { ToyHub } from '../models/toy-hub.contract.js';
import { safetensors, tinyModel } from '../models/toy-model.contract.js';
import { KINDS } from '../resources/kinds.js';
import { ControlStore } from '../store/control-store.js';
import { installDefaults } from '../store/install-defaults.js';
import { type Caller, roleAnywhere, workspaceRoles } from './caller.js';
import { ChangeFeed } from './change-feed.js';
import type { ControlAnswer, ControlHost } from './control-route.js';
import { openApi } from './open-api.js';
import { answerControl, CONTROL_ROUTES, isControlPath, paramsIn } from './routes.js';
import { ToyRunner } from './toy-runner.contract.js';

let folder: string;
let store: Store;
let host: ControlHost;
let runner: ToyRunner;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-api-'));
  store = await openStore(':memory:');
  const control = new ControlStore(store, SecretBox.open(join(folder, 'secrets.key')));
  await installDefaults(control);
  runner = new ToyRunner();
  host = { store: control, feed: await ChangeFeed.open(control.resources), keys: store.keys, runner };
});

afterEach(async () => {
  host.feed.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

const caller = (role: KeyRole, workspaces: Record<string, KeyRole> = {}): Caller => ({
  name: 'alice',
  role,
  workspaces: new Map(Object.entries(workspaces)),
});
const ADMIN = caller('admin');

/** The first of a stream that is not a comment. */
async function firstOf(stream: AsyncIterable<string>): Promise<string[]> {
  for await (const event of stream) if (!event.startsWith(':')) return [event];
  return [];
}

interface Sent {
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly as?: Caller;
}

type Answered = { status: number; body: Record<string, unknown>; headers?: readonly string[] };

async function ask(line: string, { as = ADMIN, body, ifMatch }: Sent = {}): Promise<Answered> {
  const [method, url] = line.split(' ') as [string, string];
  const [path, query] = url.split('?') as [string, string?];
  const answer = await answerControl(host, as, {
    method,
    path,
    query: new URLSearchParams(query),
    body: async () => (typeof body === 'string' ? body : JSON.stringify(body ?? '')),
    signal: new AbortController().signal,
    ...(ifMatch === undefined ? {} : { ifMatch }),
  });
  return answer as Answered;
}

const endpoint = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'twinyard/v1',
  kind: 'Endpoint',
  metadata: { name: 'chat', ...metadata },
  spec: { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b' }, ...spec },
});
const ENDPOINTS = '/api/v1/workspaces/default/endpoints';
const CHAT = `${ENDPOINTS}/chat`;

describe('resources over the API', () => {
  it('are created, listed, shown, changed and asked to go', async () => {
    const made = await ask(`POST ${ENDPOINTS}`, { body: endpoint({}, { labels: { team: 'x' } }) });
    expect(made).toMatchObject({ status: 201, body: { metadata: { generation: 1 }, spec: { replicas: 1 } } });
    expect(await ask(`GET ${CHAT}`)).toEqual({ status: 200, body: made.body });
    const listed = await ask(`GET ${ENDPOINTS}?labels=team%3Dx`);
    expect(listed.body).toEqual({ kind: 'EndpointList', resource_version: host.feed.version, items: [made.body] });
    expect((await ask(`GET ${ENDPOINTS}?labels=team%3Dy`)).body.items).toEqual([]);
    expect((await ask('GET /api/v1/endpoints')).body.items).toHaveLength(1);
    expect((await ask('GET /api/v1/engines')).body.items).toHaveLength(4);
    expect(await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 2 }) })).toMatchObject({
      status: 200,
      body: { metadata: { generation: 2 } },
    });
    expect(await ask(`DELETE ${CHAT}`)).toMatchObject({
      status: 202,
      body: { metadata: { deleted_at: expect.any(String) } },
    });
    expect((await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 3 }) })).status).toBe(409);
  });

  it('are made by PUT where there are none, in the workspace of the path, from YAML too', async () => {
    await ask('POST /api/v1/workspaces', {
      body: 'apiVersion: twinyard/v1\nkind: Workspace\nmetadata: {name: search}\nspec: {}\n',
    });
    const made = await ask('PUT /api/v1/workspaces/search/endpoints/chat', { body: endpoint() });
    expect(made).toMatchObject({ status: 201, body: { metadata: { workspace: 'search' } } });
  });

  it('are refused with all problems and their places', async () => {
    const refused = await ask(`POST ${ENDPOINTS}`, { body: endpoint({ replicas: -1, variables: { a: 1 } }) });
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'RESOURCE_INVALID',
        problems: [{ place: expect.stringMatching(/^body:1:\d+ \(spec\.replicas\)$/) }],
      },
    });
    expect((await ask(`POST ${ENDPOINTS}`, { body: endpoint({ variables: { a: 1 } }) })).body.code).toBe(
      'RESOURCE_VARIABLE',
    );
    expect(await ask(`POST ${ENDPOINTS}`, { body: '' })).toMatchObject({
      status: 400,
      body: { code: 'RESOURCE_DOCUMENT' },
    });
    expect((await ask(`PUT ${ENDPOINTS}/other`, { body: endpoint() })).body).toMatchObject({
      code: 'API_PATH',
      error: expect.stringContaining("is 'chat', and the path says 'other'"),
    });
    expect((await ask(`POST /api/v1/engines`, { body: endpoint() })).body.code).toBe('API_PATH');
    expect((await ask(`PUT ${CHAT}`, { body: endpoint({}, { workspace: 'b' }) })).body.code).toBe('API_PATH');
    const two = `${JSON.stringify(endpoint())}\n---\n${JSON.stringify(endpoint({}, { name: 'b' }))}`;
    expect((await ask(`POST ${ENDPOINTS}`, { body: two })).body.error).toContain('holds 2 resources');
    for (const method of ['GET', 'DELETE']) expect((await ask(`${method} ${CHAT}`)).status).toBe(404);
    expect((await ask(`GET ${ENDPOINTS}?labels=%3D`)).status).toBe(400);
  });

  it('conflict when somebody else came first, and it is told what changed', async () => {
    const { body } = await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    expect((await ask(`POST ${ENDPOINTS}`, { body: endpoint() })).status).toBe(409);
    const version = String((body.metadata as { resource_version: number }).resource_version);
    await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 2 }), ifMatch: `"${version}"` });
    expect(await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 3 }), ifMatch: version })).toMatchObject({
      status: 409,
      body: {
        code: 'RESOURCE_CONFLICT',
        differences: [{ path: 'spec.replicas', before: 1, after: 2 }],
        current: { spec: { replicas: 2 } },
      },
    });
    expect((await ask(`DELETE ${CHAT}`, { ifMatch: version })).status).toBe(409);
    expect((await ask(`DELETE ${CHAT}`, { ifMatch: 'soon' })).status).toBe(400);
    expect((await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 3 }), ifMatch: '*' })).status).toBe(200);
    expect(await ask('DELETE /api/v1/engines/emulator')).toMatchObject({
      status: 409,
      body: { code: 'RESOURCE_BUILT_IN', error: expect.stringContaining('Engine emulator: is built in') },
    });
  });

  it('have a status that only controllers patch, and events', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const patch = (body: unknown) => ask(`PATCH ${CHAT}/status`, { body });
    expect(await patch({ phase: 'Running', ready: 1 })).toMatchObject({
      status: 200,
      body: { metadata: { generation: 1 }, status: { ready: 1 } },
    });
    expect(await patch({ message: 'fine' })).toMatchObject({ body: { status: { phase: 'Running', message: 'fine' } } });
    expect((await ask('GET /api/v1/audit?name=chat&limit=1')).body).toMatchObject({
      items: [
        {
          actor: 'alice',
          action: 'status',
          before: { status: { message: '' } },
          after: { status: { message: 'fine' } },
        },
      ],
    });
    expect(await patch({ phase: 'Sideways' })).toMatchObject({
      status: 422,
      body: { problems: [{ place: 'body (phase)' }] },
    });
    for (const body of ['[]', '{']) expect((await patch(body)).status).toBe(400);
    expect((await ask(`PATCH ${ENDPOINTS}/none/status`, { body: {} })).status).toBe(404);
    const record = (await host.store.resources.get({ kind: 'Endpoint', workspace: 'default', name: 'chat' }))!;
    await host.store.events.add(record, 'warning', 'Crashed', 'exit code 1');
    const event = {
      kind: 'Endpoint',
      workspace: 'default',
      name: 'chat',
      type: 'warning',
      reason: 'Crashed',
      count: 1,
    };
    expect((await ask(`GET ${CHAT}/events?limit=5`)).body).toMatchObject({ kind: 'EventList', items: [event] });
    expect((await ask('GET /api/v1/events?kind=ep&workspace=default')).body).toMatchObject({ items: [event] });
    expect((await ask(`GET ${CHAT}/events?limit=0`)).body.code).toBe('API_QUERY');
  });

  it('have no events of others that had their name, unless those are asked for', async () => {
    const ref = { kind: 'Endpoint', workspace: 'default', name: 'chat' };
    const happens = async (reason: string) =>
      host.store.events.add((await host.store.resources.get(ref))!, 'normal', reason, 'm');
    const reasons = async (path: string) =>
      ((await ask(`GET ${path}`)).body.items as { reason: string }[]).map(({ reason }) => reason);
    const named = '/api/v1/events?kind=ep&workspace=default&name=chat';
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    await happens('Before');
    const { uid } = (await host.store.delete('alice', ref)).metadata;
    await host.store.remove(ref, uid!);
    for (const path of [named, `${CHAT}/events`]) {
      expect(await ask(`GET ${path}`)).toMatchObject({
        status: 404,
        body: { error: "Endpoint default/chat: does not exist; see 'twinyard get endpoints'" },
      });
    }
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    expect([await reasons(named), await reasons(`${CHAT}/events`)]).toEqual([[], []]);
    const left = new AbortController();
    const watch = await answerControl(host, ADMIN, {
      ...{ method: 'GET', path: '/api/v1/events/watch', signal: left.signal, body: async () => '' },
      query: new URLSearchParams('kind=ep&workspace=default&name=chat&since=0'),
    });
    await happens('After');
    const [first] = await firstOf((watch as { stream: AsyncIterable<string> }).stream);
    left.abort();
    expect(first).toContain('"reason":"After"');
    expect([await reasons(named), await reasons(`${CHAT}/events`)]).toEqual([['After'], ['After']]);
    expect(await reasons(`${named}&former=true`)).toEqual(['After', 'Before']);
  });

  it('that are wrong are told all that is wrong, in the order of lines, and nothing of what is not theirs', async () => {
    const body = `apiVersion: twinyard/v1
kind: Endpoint
metadata: {name: chat}
spec:
  replicas: -1
  engine: {name: emulatr}
  model: {name: m, registry: shelf}
  cluster: moon
  routing: {policy: chwbll}
---
apiVersion: twinyard/v1
kind: Endpoint
metadata: {name: other}
spec:
  engine: {name: emulator}
  model: {name: m, registry: shelf}
  variables: {sped: 1}
---
apiVersion: twinyard/v1
kind: Role
metadata: {name: r}
spec: {role: viewer, api_keys: [a, b]}
---
apiVersion: twinyard/v1
kind: ApiKey
metadata: {name: a}
spec: {rle: x}
`;
    const placesFor = async (as: Caller) => {
      const { problems } = (await ask('POST /api/v1/apply', { body, as })).body as { problems: { place: string }[] };
      return problems.map(({ place }) => place.replace('body:', ''));
    };
    expect(await placesFor(ADMIN)).toEqual([
      '5:13 (spec.replicas)',
      '6:18 (spec.engine.name)',
      '7:30 (spec.model.registry)',
      '8:12 (spec.cluster)',
      '9:21 (spec.routing.policy)',
      '16:30 (spec.model.registry)',
      '17:21 (spec.variables.sped)',
      '22:36 (spec.api_keys[1])',
      '27:13 (spec.rle)',
    ]);
    expect(await placesFor(caller('none', { default: 'viewer' }))).toEqual([
      '5:13 (spec.replicas)',
      '9:21 (spec.routing.policy)',
      '27:13 (spec.rle)',
    ]);
  });

  it('are applied together, or only planned, and it is in the audit log', async () => {
    const body = `${JSON.stringify(endpoint())}\n---\n${JSON.stringify(endpoint({}, { name: 'b' }))}`;
    const planned = await ask('POST /api/v1/apply?dry_run=true', { body });
    expect(planned.body).toMatchObject({
      dry_run: true,
      text: 'Endpoint default/chat would be created\nEndpoint default/b would be created\n',
    });
    expect((await ask(`GET ${CHAT}`)).status).toBe(404);
    expect((await ask('POST /api/v1/apply', { body })).body).toMatchObject({
      items: [{ action: 'created' }, { action: 'created' }],
    });
    expect((await ask('POST /api/v1/apply', { body })).body).toMatchObject({
      items: [{ action: 'unchanged' }, { action: 'unchanged' }],
    });
    expect((await ask('POST /api/v1/apply?dry_run=maybe', { body })).status).toBe(400);
    expect((await ask('POST /api/v1/apply?file=x.yaml', { body: 'kind: Nothing' })).body.error).toContain('x.yaml:1:7');
    expect((await ask('GET /api/v1/audit?actor=alice&kind=Endpoint&limit=1')).body).toMatchObject({
      items: [{ actor: 'alice', action: 'create', name: 'b', before: null, at: expect.stringMatching(/Z$/) }],
    });
  });
});

describe('keys', () => {
  const KEYS = '/api/v1/workspaces/default/apikeys';
  const key = (spec: object) => ({ apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'k' }, spec });

  it('have a text when somebody asks for it, another each time, and nobody else sees it', async () => {
    await ask(`POST ${KEYS}`, { body: key({ role: 'operator' }) });
    const [first, second] = [await ask(`POST ${KEYS}/k/issue`), await ask(`POST ${KEYS}/k/issue`)];
    expect(first).toMatchObject({ status: 200, body: { kind: 'IssuedKey', key: expect.stringMatching(/^ty_/) } });
    expect(second.body.key_id).toBe(first.body.key_id);
    expect((await ask(`GET ${KEYS}/k/events`)).body).toMatchObject({
      items: [{ reason: 'Issued', message: 'it has a new text', count: 2 }],
    });
    const hint = (answer: Answered) => (answer.body.key as string).slice(-4);
    expect((await ask('GET /api/v1/audit?kind=ApiKey&name=k')).body).toMatchObject({
      items: [
        {
          ...{ actor: 'alice', action: 'issue' },
          before: { status: { hint: hint(first) } },
          after: { status: { hint: hint(second), key_id: first.body.key_id } },
        },
        { actor: 'alice', action: 'issue', before: { spec: { role: 'operator' }, status: null } },
        { action: 'create' },
      ],
    });
    expect(second.body.key).not.toBe(first.body.key);
    const shown = JSON.stringify([await ask(`GET ${KEYS}/k`), await ask('GET /api/v1/audit')]);
    expect(shown).not.toContain(second.body.key);
    expect((await ask(`POST ${KEYS}/k/issue`, { as: caller('viewer', { default: 'admin' }) })).status).toBe(403);
    expect((await ask(`POST ${KEYS}/none/issue`)).status).toBe(404);
    await ask(`DELETE ${KEYS}/k`);
    expect((await ask(`POST ${KEYS}/k/issue`)).status).toBe(409);
  });
});

describe('models of a registry', () => {
  const MODELS = '/api/v1/workspaces/default/modelregistries/hub/models';
  let hub: ToyHub;
  beforeEach(async () => {
    hub = await ToyHub.start();
    const weights = safetensors({ weight: { dtype: 'BF16', shape: [8, 8] } });
    hub.put('acme/tiny', 'main', { ...tinyModel('seed'), 'model.safetensors': weights });
    hub.token = 'hf_hush';
    const spec = { type: 'hugging-face', url: hub.url, token: 'hf_hush' };
    const body = { apiVersion: 'twinyard/v1', kind: 'ModelRegistry', metadata: { name: 'hub' }, spec };
    await ask('POST /api/v1/workspaces/default/modelregistries', { body });
  });
  afterEach(() => hub.stop());

  it('are listed, and described without being fetched', async () => {
    expect((await ask(`GET ${MODELS}?search=TIN&limit=5`)).body).toEqual({
      kind: 'ModelList',
      items: [{ name: 'acme/tiny', versions: [] }],
    });
    expect((await ask(`GET ${MODELS}?search=none`)).body.items).toEqual([]);
    expect((await ask(`GET ${MODELS}/acme%2Ftiny?version=main`)).body).toMatchObject({
      ...{ kind: 'Model', name: 'acme/tiny', version: 'main', revision: expect.stringMatching(/^[0-9a-f]{40}$/) },
      ...{ layers: 2, kv_heads: 2, dtype: 'bfloat16', parameters: 64 },
      files: expect.arrayContaining([expect.objectContaining({ path: 'config.json' })]),
    });
  });

  it('are refused with what the registry says', async () => {
    const asked = async (path: string) => {
      const { body, status } = await ask(`GET ${path}`);
      return [status, body.code];
    };
    expect(await asked(`${MODELS}/acme%2Fnone`)).toEqual([404, 'MODEL_NOT_FOUND']);
    expect(await asked(`${MODELS}/acme%2Ftiny?version=v9`)).toEqual([404, 'MODEL_VERSION_NOT_FOUND']);
    expect(await asked(`${MODELS}/..%2F..`)).toEqual([400, 'MODEL_NAME']);
    expect(await asked(`${MODELS}?limit=0`)).toEqual([400, 'API_QUERY']);
    expect(await asked(MODELS.replace('hub', 'none'))).toEqual([404, 'RESOURCE_UNKNOWN']);
    hub.token = 'another';
    expect(await asked(MODELS)).toEqual([502, 'REGISTRY_TOKEN_REFUSED']);
    expect((await ask(`GET ${MODELS}`, { as: caller('viewer') })).status).toBe(403);
  });
});

describe('watch', () => {
  it('is a stream of events that can be taken up again', async () => {
    const since = host.feed.version;
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    await ask(`DELETE ${CHAT}`);
    const { stream } = (await ask(`GET /api/v1/watch?kind=endpoints&since=${since}`)) as unknown as {
      stream: AsyncIterable<string>;
    };
    const events: string[] = [];
    for await (const event of stream) {
      events.push(event);
      if (events.length === 2) break;
    }
    expect(events[0]).toMatch(new RegExp(`^id: ${since + 1}\nevent: created\ndata: \\{.*"name":"chat".*\\}\n\n$`));
    expect(events[1]).toMatch(/^id: \d+\nevent: deleting\n/);
    const old = (await ask('GET /api/v1/watch?since=0')) as unknown as { stream: AsyncIterable<string> };
    const told: string[] = [];
    for await (const event of old.stream) told.push(event);
    expect(told).toEqual([`id: ${since + 2}\nevent: gone\ndata: {"type":"gone","version":${since + 2}}\n\n`]);
    expect((await ask('GET /api/v1/watch?kind=nothing')).status).toBe(400);
  });
});

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

  it('is refused when the number is none, when it is gone, and when somebody else came first', async () => {
    const made = await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const refused = async (body: unknown) => (await ask(`PUT ${CHAT}/scale`, { body })).body.error;
    expect(await refused({ replicas: -1 })).toMatch(/^body \(replicas\): /);
    expect(await refused({ replicas: 'many' })).toMatch(/^body \(replicas\): /);
    expect(await refused({})).toBe('body (replicas): is missing; say how many there should be');
    expect(await refused({ replicas: 1, env: {} })).toContain("unknown key 'env'");
    expect(await refused('[]')).toContain('is no JSON object');
    expect((await ask(`PUT ${ENDPOINTS}/none/scale`, { body: { replicas: 1 } })).status).toBe(404);
    const { resource_version: version } = made.body.metadata as { resource_version: number };
    await ask(`PUT ${CHAT}/scale`, { body: { replicas: 2 } });
    expect(await ask(`PUT ${CHAT}/scale`, { body: { replicas: 3 }, ifMatch: String(version) })).toMatchObject({
      status: 409,
      body: { differences: [{ path: 'spec.replicas', before: 1, after: 2 }] },
    });
  });

  it('is meant for whatever there is: who is faster with another change does not stop it', async () => {
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
    host = { ...host, store: slow };
    // What the first look sees is changed before it is used.
    const scaling = ask(`PUT ${CHAT}/scale`, { body: { replicas: 5 } });
    host = { ...host, store: real };
    expect((await scaling).body).toMatchObject({ spec: { replicas: 5, env: { A: 'b' } } });
  });
});

async function collected(stream: AsyncIterable<string>): Promise<string[]> {
  const items: string[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

describe('logs', () => {
  const streamOf = async (path: string, signal?: AbortSignal) => {
    const [url, query] = path.split('?') as [string, string?];
    const answer = await answerControl(host, ADMIN, {
      ...{ method: 'GET', path: url, query: new URLSearchParams(query), body: async () => '' },
      signal: signal ?? new AbortController().signal,
    });
    return (answer as { stream: AsyncIterable<string> }).stream;
  };
  const lineOf = (replica: string, line: string) => `event: line\ndata: ${JSON.stringify({ replica, line })}\n\n`;
  const END = 'event: end\ndata: {}\n\n';

  beforeEach(async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    runner.start('chat-a', 'default/chat', 'one', 'two');
    runner.start('chat-b', 'default/chat', 'three');
    runner.start('other', 'default/other', 'not ours');
  });

  it('are those of all replicas of the endpoint, or of one', async () => {
    const all = async (path: string) => (await collected(await streamOf(path))).join('');
    expect(await all(`${CHAT}/logs`)).toBe(
      lineOf('chat-a', 'one') + lineOf('chat-a', 'two') + lineOf('chat-b', 'three') + END,
    );
    expect(await all(`${CHAT}/logs?replica=chat-a&lines=1`)).toBe(lineOf('chat-a', 'two') + END);
  });

  it('are refused for replicas that are not its own, and for bad numbers', async () => {
    expect(await ask(`GET ${CHAT}/logs?replica=other`)).toMatchObject({
      status: 404,
      body: { code: 'API_REPLICA', error: expect.stringContaining('known: chat-a, chat-b') },
    });
    for (const id of ['chat-a', 'chat-b']) runner.forget(id);
    expect((await ask(`GET ${CHAT}/logs?replica=chat-a`)).body.error).toContain('it has none at present');
    expect((await ask(`GET ${CHAT}/logs?lines=many`)).status).toBe(400);
    expect((await ask(`GET ${CHAT}/logs?follow=maybe`)).status).toBe(400);
    expect((await ask(`GET ${ENDPOINTS}/none/logs`)).status).toBe(404);
  });

  it('are followed, with those of replicas that start later, until who reads has left', async () => {
    const left = new AbortController();
    const events = (await streamOf(`${CHAT}/logs?follow=true&lines=0`, left.signal))[Symbol.asyncIterator]();
    const next = events.next();
    runner.start('chat-c', 'default/chat', 'hello');
    runner.start('other-b', 'default/other', 'not ours');
    expect((await next).value).toBe(lineOf('chat-c', 'hello'));
    runner.write('chat-a', 'more');
    expect((await events.next()).value).toBe(lineOf('chat-a', 'more'));
    left.abort();
    expect((await events.next()).value).toBe(END);
    expect((await events.next()).done).toBe(true);
    expect(runner.listeners).toBe(0);
  });

  it('end with the replica that was asked for, and with the endpoint', async () => {
    const one = streamOf(`${CHAT}/logs?follow=true&replica=chat-b`).then(collected);
    runner.exit('chat-b');
    expect(await one).toEqual([lineOf('chat-b', 'three'), END]);
    const all = streamOf(`${CHAT}/logs?follow=true&lines=1`).then(collected);
    await ask(`DELETE ${CHAT}`);
    runner.exit('chat-a');
    expect(await all).toEqual([lineOf('chat-a', 'two'), lineOf('chat-b', 'three'), END]);
  });

  it('pass over a replica that is forgotten meanwhile, and hide no bug', async () => {
    const stream = await streamOf(`${CHAT}/logs`);
    runner.forget('chat-a');
    expect(await collected(stream)).toEqual([lineOf('chat-b', 'three'), END]);
    host = {
      ...host,
      runner: Object.assign(Object.create(runner), {
        // biome-ignore lint/correctness/useYield: it breaks before
        async *logs() {
          throw new TypeError('a bug');
        },
        list: () => runner.list(),
        watch: () => () => {},
      }),
    };
    for (const query of ['', '?follow=true']) {
      await expect(collected(await streamOf(`${CHAT}/logs${query}`))).rejects.toThrow('a bug');
    }
  });
});

describe('events as they happen', () => {
  it('are told from an event on, again when they happen again, by kind, workspace and name', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const record = (await host.store.resources.get({ kind: 'Endpoint', workspace: 'default', name: 'chat' }))!;
    await host.store.events.add(record, 'normal', 'Before', 'x');
    const { stream } = (await ask('GET /api/v1/events/watch?kind=ep&workspace=default&name=chat')) as unknown as {
      stream: AsyncIterable<string>;
    };
    await host.store.events.add({ ...record, name: 'other', uid: 'u' }, 'normal', 'Elsewhere', 'x');
    await host.store.events.add(record, 'warning', 'Crashed', 'exit code 1');
    const told: string[] = [];
    for await (const event of stream) {
      told.push(event);
      if (told.length === 1) await host.store.events.add(record, 'warning', 'Crashed', 'exit code 1');
      if (told.length === 2) break;
    }
    expect(told[0]).toMatch(/^id: \d+\nevent: happened\ndata: \{.*"reason":"Crashed".*"count":1.*\}\n\n$/);
    expect(told[1]).toContain('"count":2');
    const old = (await ask('GET /api/v1/events/watch?since=0')) as unknown as { stream: AsyncIterable<string> };
    for await (const event of old.stream) {
      expect(event).toContain('"reason":"Before"');
      break;
    }
  });
});

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

  it('are held in workspaces, for what is applied there and for nothing else', async () => {
    const operator = caller('none', { default: 'operator' });
    expect((await ask(`POST ${ENDPOINTS}`, { as: operator, body: endpoint() })).status).toBe(201);
    expect((await ask('POST /api/v1/apply', { as: operator, body: endpoint({ replicas: 2 }) })).status).toBe(200);
    const elsewhere = endpoint({}, { workspace: 'other' });
    expect((await ask('POST /api/v1/apply', { as: operator, body: elsewhere })).status).toBe(403);
    const workspace = { apiVersion: 'twinyard/v1', kind: 'Workspace', metadata: { name: 'w' }, spec: {} };
    expect((await ask('POST /api/v1/apply', { as: operator, body: workspace })).body.error).toBe(
      'this takes the role admin everywhere, and the key has the role none',
    );
    expect((await ask('GET /api/v1/engines', { as: operator })).status).toBe(200);
    for (const path of ['watch', 'events', 'watch?workspace=other', 'events?workspace=other']) {
      expect((await ask(`GET /api/v1/${path}`, { as: operator })).status).toBe(403);
    }
    expect((await ask('GET /api/v1/events?workspace=default', { as: operator })).status).toBe(200);
    expect((await ask('GET /api/v1/events?kind=Engine', { as: operator })).status).toBe(200);
  });

  it('cannot be raised by a key: who has no role everywhere can neither make nor touch one that does', async () => {
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

  it('come from Role resources of the workspace of a key', () => {
    const role = (workspace: string, role: string, deletedAt: number | null = null) =>
      ({ workspace, deletedAt, spec: { role, api_keys: ['k'] } }) as unknown as ResourceRecord;
    const roles = [role('a', 'viewer'), role('a', 'operator'), role('a', 'admin', 1), role('b', 'admin')];
    const found = workspaceRoles(roles, { workspace: 'a', name: 'k' });
    expect([...found]).toEqual([['a', 'operator']]);
    expect(workspaceRoles(roles, { workspace: 'a', name: 'other' }).size).toBe(0);
    expect(roleAnywhere({ name: '', role: 'none', workspaces: found })).toBe('operator');
  });
});

interface DescribedOperation {
  operationId: string;
  parameters: { name: string; in: string }[];
  responses: object;
}

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
    const lost = (await answerControl(broken(new RunError('STORE_UNREACHABLE', 'gone')), ADMIN, call)) as ControlAnswer;
    expect(lost).toMatchObject({ status: 503, headers: ['retry-after', '1'] });
    await expect(answerControl(broken(new TypeError('a bug')), ADMIN, call)).rejects.toThrow('a bug');
  });

  it('is described by OpenAPI: every route, and every schema that it speaks of', async () => {
    const { body } = await ask('GET /api/v1/openapi.json');
    const document = openApi(CONTROL_ROUTES) as {
      paths: Record<string, Record<string, DescribedOperation>>;
      components: { schemas: object };
    };
    expect(body).toEqual(document);
    for (const { method, path } of CONTROL_ROUTES) expect(document.paths[path]).toHaveProperty(method.toLowerCase());
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      (match) => match[1]!,
    );
    expect(refs.length).toBeGreaterThan(20);
    for (const name of refs) expect(document.components.schemas).toHaveProperty(name);
    // Classes such as \p{Cc} are not known to every reader.
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map((match) => match[1]!);
    expect(patterns.length).toBeGreaterThan(20);
    for (const pattern of patterns) expect(JSON.parse(pattern)).not.toMatch(/\\p\{/i);
    for (const [path, methods] of Object.entries(document.paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      for (const { parameters, responses } of Object.values(methods)) {
        expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(named);
        expect(Object.keys(responses)).toEqual([expect.stringMatching(/^20\d$/), 'default']);
      }
    }
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
