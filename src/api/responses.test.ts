import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChangeFeed } from '../control/change-feed.js';
import { FakeHub } from '../control/models/fake-hub.fixture.js';
import { safetensors, tinyModel } from '../control/models/fake-model.fixture.js';
import type { ResourceKind } from '../control/resources/kind.js';
import { KINDS } from '../control/resources/kinds.js';
import { ControlStore } from '../control/store/control-store.js';
import { installDefaults } from '../control/store/install-defaults.js';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type GatewayConfig } from '../gateway/config/gateway-config.js';
import { configFor, FakeEngine, until } from '../gateway/fake-engine.fixture.js';
import { Gateway } from '../gateway/gateway.js';
import { addEndpointEvent } from '../gateway/history/endpoint-events.js';
import { fakeProfileDocument } from '../gateway/prediction/profile-document.fixture.js';
import { flowControlOf } from '../policy/bundle/flow-control-schema.js';
import { SecretBox } from '../store/resources/secrets.js';
import type { LabResult } from '../twin/lab/lab-task.js';
import { startProfiles } from '../twin/profiles/start-profiles.js';
import { serveApi } from './api-server.js';
import { FakeRunner } from './fake-runner.fixture.js';
import { openApi } from './open-api.js';
import { paramsIn } from './respond.js';
import { API_ROUTES } from './routes.js';

/** A gateway with a store, a control plane without reconcilers, an engine and a model registry. */
let gateway: Gateway;
let hub: FakeHub;
let engine: FakeEngine;
const opened: (() => unknown)[] = [];
/** Routes that have responded with success, as `GET /api/v1/kinds`. */
const visited = new Set<string>();
const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: { 'date-time': true, password: true } });

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
type Body = any;
interface Operation {
  responses: Record<string, { content: Record<string, { schema: { $ref?: string } }> }>;
}

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-responses-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  hub = await FakeHub.start();
  opened.push(() => hub.stop());
  hub.put('acme/tiny', 'main', {
    ...tinyModel('seed'),
    'model.safetensors': safetensors({ weight: { dtype: 'BF16', shape: [8, 8] } }),
  });
  hub.put('acme/odd', 'main', { 'README.md': Buffer.from('no configuration') });
  const config = configIn(folder);
  gateway = new Gateway(config, () => ({ ...config, drainMs: 77 }));
  await gateway.start();
  opened.push(() => gateway.close(0));
  const store = new ControlStore(gateway.store!, SecretBox.open(join(folder, 'secrets.key')));
  await installDefaults(store);
  const feed = await ChangeFeed.open(store.resources);
  opened.push(() => feed.close());
  const control = Promise.resolve({ host: { store, feed, runner: new FakeRunner(), drain: () => true } });
  gateway.api = serveApi(gateway, control, async ({ input }) => {
    if (input === null) return { verdict: 'same' } as LabResult;
    throw new Error('no experiment in this test');
  });
  await until(() => gateway.isReady);
  ajv.addSchema({ $id: 'openapi', ...(await openApi(API_ROUTES)) }, undefined, undefined, false);
  for (const keyword of ['openapi', 'info', 'security', 'paths', 'components']) ajv.addKeyword(keyword);
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

/** Every part of a configuration that the API can show without another server. */
function configIn(folder: string): GatewayConfig {
  const config = configFor([engine], {
    store: join(folder, 'yard.db'),
    dataDir: folder,
    access: { ...GATEWAY_DEFAULTS.access, keys: 'required' },
    prices: [{ model: 'm', input: 1, cachedInput: 0.5, output: 2 }],
    accessLog: { path: join(folder, 'access.log'), maxBytes: 10_000, files: 1 },
    record: { path: join(folder, 'record.jsonl'), maxBytes: 10_000, files: 1 },
    decisionLog: join(folder, 'decisions.jsonl'),
  });
  const flowControl = flowControlOf({}, { interactive: 500_000 });
  const policy = { ...DEFAULT_POLICY, sloPriorities: { batch: -10 }, tenantBudgets: { acme: 0.5 }, flowControl };
  return { ...config, endpoints: config.endpoints.map((one) => ({ ...one, policy })) };
}

/** A response, after a check against the schema that the OpenAPI document has for its operation, status and type. */
async function ask(line: string, body?: unknown, accept = '*/*', credential = gateway.adminToken): Promise<Body> {
  const [method, url] = line.split(' ') as [string, string];
  const left = new AbortController();
  const response = await fetch(`${gateway.adminUrl}/api/v1/${url}`, {
    method,
    headers: { authorization: `Bearer ${credential}`, accept },
    signal: left.signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const path = `/api/v1/${url.split('?')[0]}`;
  const route = API_ROUTES.find((one) => one.method === method && paramsIn(path.split('/'), one.path) !== null);
  const type = response.headers.get('content-type')!.split(';')[0]!;
  const given = await readBody(response, type);
  left.abort();
  expect(problemsOf(route!, response.status, type, given), `${line}: ${response.status}`).toEqual([]);
  if (response.ok) visited.add(`${route!.method} ${route!.path}`);
  return given;
}

/** The first piece of a stream. */
async function readBody(response: Response, type: string): Promise<unknown> {
  if (type === 'application/json') return response.json();
  if (type !== 'text/event-stream') return response.text();
  const { value } = await response.body!.pipeThrough(new TextDecoderStream()).getReader().read();
  return value;
}

function problemsOf({ method, path }: { method: string; path: string }, status: number, type: string, body: unknown) {
  const document = ajv.getSchema('openapi')!.schema as { paths: Record<string, Record<string, Operation>> };
  const { responses } = document.paths[path]![method.toLowerCase()]!;
  const name = status < 400 ? String(status) : 'default';
  const schema = responses[name]?.content[type]?.schema;
  if (schema === undefined) return [`the document has no response ${status} of type ${type}`];
  const validate = schema.$ref === undefined ? ajv.compile(schema) : ajv.getSchema(`openapi${schema.$ref}`)!;
  validate(body);
  return (validate.errors ?? []).map(({ instancePath, message, params }) => [instancePath, message, params]);
}

const resource = (kind: string, name: string, spec: object) => ({
  ...{ apiVersion: 'twinyard/v1', kind, metadata: { name, labels: { team: 'search' } }, spec },
});

const chat = (id: string, key: string, body: object = { model: 'm', messages: [{ role: 'user', content: 'hello' }] }) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-request-id': id, authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });

const KEYS = 'workspaces/default/apikeys';
const FILE_ENDPOINT = 'workspaces/default/endpoints/default';

describe('every response fits the schema of the OpenAPI document', () => {
  it('of the API itself', async () => {
    await ask('GET openapi.json');
    expect((await ask('GET kinds')).items).toHaveLength(KINDS.length);
    expect(await ask('GET kinds/endpoints')).toMatchObject({
      kind: 'Endpoint',
      schema: { required: ['apiVersion', 'kind', 'metadata', 'spec'] },
    });
    expect((await ask('GET kinds/none')).error.code).toBe('API_KIND');
  });

  it('of sessions', async () => {
    expect((await ask('POST session')).csrf_token).toMatch(/^[\w-]{43}$/);
    expect((await ask('GET session')).csrf_token).toBeNull();
    await ask('POST session/links');
    await ask('DELETE session');
  });

  it.each(KINDS)('of resources: $kind', async (kind: ResourceKind) => {
    const all = kind.scope === 'global' ? kind.plural : `workspaces/default/${kind.plural}`;
    const name = `some-${kind.plural}`;
    // Roles refer to keys, and must name an existing one.
    if (kind.kind === 'Role') await ask(`POST ${KEYS}`, resource('ApiKey', 'alice', {}));
    const { example, kind: called } = kind;
    await ask(`POST ${all}`, resource(called, name, example));
    await ask(`POST ${all}`, resource(called, name, example));
    await ask(`PUT ${all}/${name}`, { ...resource(called, name, example), metadata: { name, labels: {} } });
    expect((await ask(`PATCH ${all}/${name}`, { metadata: { labels: { a: 'b' } } })).metadata.labels).toEqual({
      a: 'b',
    });
    expect((await ask(`GET ${all}/${name}/revisions`)).items).toHaveLength(1);
    await ask(`POST ${all}/${name}/rollback`, { revision: 1 });
    await ask(`PUT ${all}/${name}-2`, resource(called, `${name}-2`, example));
    if (called !== 'ApiKey') {
      const condition = { type: 'Ready', status: true, since: '2030-01-31T00:00:00Z' };
      const status = { phase: kind.phases[0], message: 'm', conditions: [condition] };
      await ask(`PATCH ${all}/${name}/status`, status);
    }
    expect((await ask(`GET ${all}/${name}`)).metadata.name).toBe(name);
    expect((await ask(`GET ${all}?limit=1`)).items).toHaveLength(1);
    await ask(`GET ${kind.plural}`);
    await ask(`DELETE ${all}/${name}`);
    await ask(`GET ${all}/none`);
  });

  it('of keys, their limits and what was used with them', async () => {
    const limits = { '*': { requests_per_minute: 3, dollars_per_day: 1 }, m: { tokens_per_day: 1000 } };
    await ask(`POST ${KEYS}`, resource('ApiKey', 'bob', { limits }));
    const { key } = await ask(`POST ${KEYS}/bob/issue`);
    await ask(`POST ${KEYS}/bob/issue`, { grace_s: 60 });
    await gateway.access!.refresh();
    const said = { model: 'm', messages: [{ role: 'user', content: 'hello' }], key };
    expect(await ask('POST playground/chat', said)).toContain('choices');
    for (const id of ['a', 'b', 'limited']) await (await chat(id, key)).text();
    await ask('POST playground/chat', { ...said, key: 'wrong' });
    await (await chat('malformed', key, { model: 'none' })).text();
    expect(Object.keys((await ask(`GET ${KEYS}/bob/limits`)).limits)).toEqual(['*', 'm']);
    expect((await ask('GET usage')).total.requests).toBeGreaterThan(1);
    await ask('GET usage?by=key,model,endpoint,day,outcome');
    const byKey = (await ask('GET usage?by=key')).items as { key_name?: string }[];
    expect(byKey.map((one) => one.key_name)).toContain('default/bob');
    await ask('GET usage?by=total');
    expect((await ask('GET usage/own', undefined, '*/*', key)).total.requests).toBeGreaterThan(1);
    await ask('GET usage/own');
    expect(Object.keys((await ask('GET limits/own', undefined, '*/*', key)).limits)).toEqual(['*', 'm']);
    expect((await ask('GET limits/own')).error.code).toBe('API_NO_OWN_KEY');
    expect((await ask('GET playground/models', undefined, '*/*', key)).items).toEqual([{ name: 'm' }]);
    expect((await ask('GET playground/models')).error.message).toContain('401');
    expect(await ask('GET usage', undefined, 'text/csv')).toContain('requests');
    expect((await ask('GET decisions')).items.length).toBeGreaterThan(1);
    expect((await ask('GET decisions/a')).replicas).toHaveLength(1);
    expect((await ask('GET decisions/limited')).refused.limit.name).toBe('requests_per_minute');
    expect((await ask('GET decisions/malformed')).refused.limit).toBeNull();
    await ask('GET decisions/none');
    expect((await ask('GET traffic')).total.requests_per_s).toBeGreaterThan(0);
    expect((await ask('GET requests')).total).toBeGreaterThan(1);
    expect((await ask('GET requests/a')).outcome).toBe('ok');
    await ask('GET requests/none');
    await ask(`POST ${KEYS}/bob/revoke`);
  });

  it('of latency profiles', async () => {
    const profiles = startProfiles(gateway);
    opened.push(() => profiles.close());
    const one = `${FILE_ENDPOINT}/profiles/vllm`;
    expect((await ask('GET profiles?workspace=default&endpoint=default')).items).toMatchObject([
      { engine: 'vllm', source: null, used: false, score: null, drift: null },
    ]);
    expect((await ask(`PUT ${one}/pin`, { pinned: true })).error.code).toBe('PROFILE_MISSING');
    const profile = fakeProfileDocument();
    expect(await ask(`PUT ${one}/pin`, { pinned: true, profile })).toMatchObject({ pinned: true, source: 'given' });
    expect((await ask(`GET ${one}`)).profile).toEqual(profile);
    expect((await ask(`PUT ${one}/pin`, { pinned: true, profile: { ...profile, tp: 0 } })).error.code).toBe(
      'BAD_PROFILE',
    );
    expect((await ask(`GET ${FILE_ENDPOINT}/live`)).profiles).toMatchObject([{ engine: 'vllm', pinned: true }]);
    expect((await ask(`GET ${FILE_ENDPOINT}/profiles/none`)).error.code).toBe('API_PROFILE');
  });

  it('of the gateway', async () => {
    await ask('GET config');
    await ask('GET store');
    await ask('GET live');
    await ask(`GET ${FILE_ENDPOINT}/live`);
    await ask('GET endpoints');
    expect((await ask('GET replicas')).items[0].signals.running).toBe(0);
    await ask(`POST ${FILE_ENDPOINT}/replicas`, { url: engine.url, id: 'late' });
    await ask(`GET ${FILE_ENDPOINT}/replicas`);
    await ask(`DELETE ${FILE_ENDPOINT}/replicas/late`);
    await ask(`POST ${FILE_ENDPOINT}/replicas`, { url: engine.url, id: 'later' });
    expect(await ask(`POST ${FILE_ENDPOINT}/replicas/later/drain`)).toEqual({ status: 'leaving', active: 0 });
    const { items: routings } = await ask('GET policies');
    expect(routings.length).toBeGreaterThan(10);
    const options = (name: string) => routings.find((one: { name: string }) => one.name === name).options.properties;
    expect(options('lmetric').batch_offset).toMatchObject({ type: 'number', default: 0 });
    expect(Object.keys(options('weighted'))).toContain('scorers');
    const admissions = await ask('GET admission-policies');
    expect(admissions.items.map((one: { name: string }) => one.name)).toContain('token-bucket');
    await addEndpointEvent(gateway, 'default', { type: 'normal', reason: 'Serving', message: 'serving with unified' });
    expect((await ask('GET events?kind=Endpoint&workspace=default&name=default')).items).toMatchObject([
      { workspace: 'default', reason: 'Serving', count: 1 },
    ]);
    const preview = await ask(`PUT ${FILE_ENDPOINT}/policy?dry_run=true`, { policy: 'lmetric' });
    expect(preview.policy.routing.policy).toBe('lmetric');
    const { policy, policy_hash } = await ask(`GET ${FILE_ENDPOINT}/live`);
    expect([policy.routing.policy === 'lmetric', policy_hash === preview.policy_hash]).toEqual([false, false]);
    expect(await ask(`GET ${FILE_ENDPOINT}/recording?last=1h`)).toMatch(/^event: facts\n/);
    await ask(`GET ${FILE_ENDPOINT}/recording?last=soon`);
    await ask(`PUT ${FILE_ENDPOINT}/policy`, { policy: 'lmetric' });
    expect((await ask(`GET ${FILE_ENDPOINT}/live`)).policy_hash).toBe(preview.policy_hash);
    await ask(`PUT ${FILE_ENDPOINT}/policy`, { routing: { policy: 'lmetric' }, priority: { policy: 'x' } });
    expect((await ask(`GET ${FILE_ENDPOINT}/policy/history`)).items.length).toBeGreaterThan(1);
    await ask(`POST ${FILE_ENDPOINT}/policy/rollback`);
    await ask(`PUT ${FILE_ENDPOINT}/shadows/least`, { policy: 'least-loaded', options: { tie_break: 'first' } });
    await ask(`PUT ${FILE_ENDPOINT}/shadows/least`, { policy: 'nothing' });
    expect((await ask(`GET ${FILE_ENDPOINT}/shadows`)).items).toMatchObject([{ name: 'least', source: 'added' }]);
    await ask(`DELETE ${FILE_ENDPOINT}/shadows/least`);
    await ask('POST config/reload');
    const slos = [{ metric: 'ttft', limit_ms: 500 }];
    for (const [question, body] of Object.entries({ whatif: {}, advice: {}, plan: { slos } })) {
      const { id } = await ask(`POST ${FILE_ENDPOINT}/${question}`, { model: 'qwen/qwen3-14b', ...body });
      expect(await ask(`GET jobs/${id}/events`)).toMatch(/^event: job\n/);
      await ask(`GET jobs/${id}`);
      await ask(`DELETE jobs/${id}`);
    }
    const guard = { metric: 'ttft_p90', most: 0.1 };
    await ask(`POST ${FILE_ENDPOINT}/policy/switch`, { policy: { policy: 'lmetric' }, guard });
    expect((await ask('GET jobs')).items).toHaveLength(4);
    const fleet = { model: 'qwen/qwen3-14b' };
    const policies = ['round-robin', 'lmetric'];
    const { id } = await ask('POST workspaces/default/lab/uploads?name=a.jsonl', {});
    await ask('POST workspaces/default/lab/experiments', {
      traffic: { upload: { id, format: 'trace' } },
      fleet,
      policies,
    });
    const recorded = { recording: { endpoint: 'default' } };
    expect(
      (await ask('POST workspaces/default/lab/experiments', { traffic: recorded, fleet, policies })).endpoint,
    ).toBe('default');
    await ask('POST workspaces/default/lab/experiments', { traffic: {}, fleet, policies });
    await ask('GET lab/choices');
    const lab = 'workspaces/default/lab';
    const job = await ask(`POST ${lab}/experiments`, { traffic: { workload: 'rag' }, fleet, policies });
    await expect.poll(async () => (await ask(`GET jobs/${job.id}`)).state, { timeout: 60_000 }).toBe('done');
    const saved = await ask(`POST ${lab}/results`, { job: job.id, name: 'a' });
    expect((await ask(`GET ${lab}/results`)).items).toEqual([saved]);
    expect((await ask(`GET ${lab}/results/${saved.id}`)).result).toEqual({ verdict: 'same' });
    await ask(`DELETE ${lab}/results/${saved.id}`);
    await ask('GET jobs/none');
    await ask('PUT workspaces/default/endpoints/none/policy', {});
  });

  it('of declared endpoints, files of resources and their history', async () => {
    const spec = { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b' } };
    const applied = await ask('POST apply', resource('Endpoint', 'chat', spec));
    expect(applied.items).toMatchObject([{ action: 'created' }]);
    const again = await ask('POST apply?dry_run=true', resource('Endpoint', 'chat', { ...spec, replicas: 2 }));
    expect(again.items).toMatchObject([{ differences: [{ path: 'spec.replicas' }] }]);
    await ask('POST apply', resource('Endpoint', 'wrong', { replicas: 'many' }));
    await ask('PUT workspaces/default/endpoints/chat/scale', { replicas: 3 });
    await ask('GET workspaces/default/endpoints/chat/logs');
    await ask('GET watch?since=0-0');
    expect((await ask('GET events')).items.length).toBeGreaterThan(0);
    const kinds = (await ask('GET audit?limit=1000')).items.map(({ kind }: Body) => kind);
    for (const kind of ['Replica', 'Policy', 'Profile', 'Configuration', 'Endpoint']) expect(kinds).toContain(kind);
  });

  it('of model registries', async () => {
    await ask(
      'POST workspaces/default/modelregistries',
      resource('ModelRegistry', 'hub', { type: 'hugging-face', url: hub.url }),
    );
    const models = 'workspaces/default/modelregistries/hub/models';
    expect((await ask(`GET ${models}`)).items).toHaveLength(2);
    expect((await ask(`GET ${models}/acme%2Ftiny?version=main`)).layers).toBe(2);
    expect((await ask(`GET ${models}/acme%2Fodd?version=main`)).problem).toContain('config.json');
    await ask(`GET ${models}/acme%2Fnone`);
  });

  it('of every route of the table', () => {
    const routes = API_ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(routes.filter((route) => !visited.has(route))).toEqual([]);
  });

  it('which refuses a field that the schema does not have', async () => {
    const route = API_ROUTES.find(({ path }) => path === '/api/v1/decisions')!;
    const page = await ask('GET decisions');
    const [first] = page.items;
    const problems = (body: unknown) => problemsOf(route, 200, 'application/json', body);
    expect(problems(page)).toEqual([]);
    expect(problems({ ...page, extra: 1 })).toHaveLength(1);
    expect(problems({ ...page, items: [{ ...first, extra: 1 }] })).toHaveLength(1);
    expect(problems({ ...page, items: [{ ...first, replicas: [{ ...first.replicas[0], extra: 1 }] }] })).toHaveLength(
      1,
    );
    expect(problems({ ...page, items: [{ ...first, tied: 'none' }] })).toHaveLength(1);
  });
});
