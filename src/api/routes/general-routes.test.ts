import { Kysely } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import type { Caller } from '../access/caller.js';
import {
  ADMIN,
  type Answered,
  ask,
  CHAT,
  caller,
  ENDPOINTS,
  endpoint,
  host,
  streamOf,
  withFakeApi,
} from '../fake-api.fixture.js';

withFakeApi();

describe('resources of a file', () => {
  it('return every problem in the order of lines, and nothing that the caller may not see', async () => {
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
      const { error } = (await ask('POST /api/v1/apply', { body, as })).body as {
        error: { problems: { place: string }[] };
      };
      return error.problems.map(({ place }) => place.replace('body:', ''));
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
    expect(await placesFor(caller('none', { default: 'viewer', other: 'operator' }))).toEqual([
      '5:13 (spec.replicas)',
      '9:21 (spec.routing.policy)',
      '27:13 (spec.rle)',
    ]);
  });

  it('are applied together, or only planned, and the change is in the audit log', async () => {
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
    expect((await ask('POST /api/v1/apply?file=x.yaml', { body: 'kind: Nothing' })).body.error).toMatchObject({
      problems: [{ place: expect.stringContaining('x.yaml:1:7') }],
    });
    expect((await ask('GET /api/v1/audit?actor=alice&kind=Endpoint&limit=1')).body).toMatchObject({
      items: [{ actor: 'alice', action: 'create', name: 'b', before: null, at: expect.stringMatching(/Z$/) }],
    });
  });
});

describe('keys', () => {
  const KEYS = '/api/v1/workspaces/default/apikeys';
  const key = (spec: object) => ({ apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'k' }, spec });

  it('have a secret once it is issued, a new one each time, and no other response shows it', async () => {
    await ask(`POST ${KEYS}`, { body: key({ role: 'operator' }) });
    const [first, second] = [await ask(`POST ${KEYS}/k/issue`), await ask(`POST ${KEYS}/k/issue`)];
    expect(first).toMatchObject({ status: 200, body: { kind: 'IssuedKey', key: expect.stringMatching(/^ty_/) } });
    expect(second.body.key_id).toBe(first.body.key_id);
    expect((await ask('GET /api/v1/events?kind=ApiKey&workspace=default&name=k')).body).toMatchObject({
      items: [{ reason: 'Issued', message: 'a new secret was issued', count: 2 }],
    });
    const hint = (response: Answered) => (response.body.key as string).slice(-4);
    expect((await ask('GET /api/v1/audit?kind=ApiKey&name=k')).body).toMatchObject({
      items: [
        {
          ...{ actor: 'alice', action: 'issue' },
          before: { status: { hint: hint(first) } },
          after: { status: { hint: hint(second) } },
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
    expect((await ask(`POST ${KEYS}/k/issue`)).status).toBe(404);
  });
});

describe('watch', () => {
  it('streams changes of resources from a version on, and resumes by Last-Event-ID', async () => {
    const since = host.feed.version;
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    await ask(`DELETE ${CHAT}`);
    const events = await firstOf(2, await streamOf(`/api/v1/watch?kind=endpoints&since=${since}`));
    expect(events[0]).toMatch(
      new RegExp(`^id: ${since + 1}-0\nevent: resource\ndata: \\{"type":"created",.*"name":"chat".*\\}\n\n$`),
    );
    expect(events[1]).toMatch(/^id: \d+-0\nevent: resource\ndata: \{"type":"deleting"/);
    const [resumed] = await firstOf(1, await streamOf('/api/v1/watch', { lastEventId: `${since + 1}-0` }));
    expect(resumed).toBe(events[1]);
    const told: string[] = [];
    for await (const event of await streamOf('/api/v1/watch?since=0')) told.push(event);
    expect(told).toEqual([`id: ${since + 2}-0\nevent: reset\ndata: {"version":${since + 2}}\n\n`]);
  });

  it.each(['kind=nothing', 'topics=resources,x', 'since=soon', 'topics=replicas'])('refuses ?%s', async (query) => {
    const { body, status } = await ask(`GET /api/v1/watch?${query}`);
    expect([400, 503]).toContain(status);
    expect(body.error.code).toMatch(/^(API_QUERY|RESOURCE_KIND|API_NO_GATEWAY)/);
  });

  it('carries several topics in one stream, each with its own position', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const record = (await host.store.resources.get(REF))!;
    const { version } = host.feed;
    const stream = await streamOf('/api/v1/watch?topics=resources,events');
    await host.store.events.add(record, 'normal', 'Started', 'x');
    await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 2 }) });
    const events = await firstOf(2, stream);
    expect(events.map((text) => /event: (\w+)/.exec(text)![1]).sort()).toEqual(['event', 'resource']);
    expect(events[1]).toMatch(new RegExp(`^id: ${version + 1}-1\n`));
  });
});

const REF = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

/** The first events of a stream that are not comments. */
async function firstOf(count: number, stream: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const event of stream) {
    if (!event.startsWith(':')) found.push(event);
    if (found.length === count) break;
  }
  return found;
}

describe('events', () => {
  it('are of a resource, not of its name: those of former resources are listed with former=true', async () => {
    const happens = async (reason: string) =>
      host.store.events.add((await host.store.resources.get(REF))!, 'normal', reason, 'm');
    const reasons = async (path: string) =>
      ((await ask(`GET ${path}`)).body.items as { reason: string }[]).map(({ reason }) => reason);
    const named = '/api/v1/events?kind=ep&workspace=default&name=chat';
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    await happens('Before');
    const { uid } = (await host.store.delete('alice', REF)).metadata;
    await host.store.remove(REF, uid!);
    expect(await ask(`GET ${named}`)).toMatchObject({
      status: 404,
      body: { error: { message: 'Endpoint default/chat: does not exist', hint: "see 'twinyard get endpoints'" } },
    });
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    expect(await reasons(named)).toEqual([]);
    const watch = await streamOf('/api/v1/watch?topics=events&kind=ep&workspace=default&name=chat&since=0-0');
    await happens('After');
    expect((await firstOf(1, watch))[0]).toContain('"reason":"After"');
    expect(await reasons(named)).toEqual(['After']);
    expect(await reasons(`${named}&former=true`)).toEqual(['After', 'Before']);
    const { body } = await ask(`GET ${named}&former=true&limit=1`);
    expect(await reasons(`${named}&former=true&limit=1&cursor=${body.next}`)).toEqual(['Before']);
  });

  it('are streamed as they happen, again with their count, by kind, workspace and name', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const record = (await host.store.resources.get(REF))!;
    await host.store.events.add(record, 'normal', 'Before', 'x');
    const stream = await streamOf('/api/v1/watch?topics=events&kind=ep&workspace=default&name=chat');
    await host.store.events.add({ ...record, name: 'other', uid: 'u' }, 'normal', 'Elsewhere', 'x');
    await host.store.events.add(record, 'warning', 'Crashed', 'exit code 1');
    const told: string[] = [];
    for await (const event of stream) {
      told.push(event);
      if (told.length === 1) await host.store.events.add(record, 'warning', 'Crashed', 'exit code 1');
      if (told.length === 2) break;
    }
    expect(told[0]).toMatch(/^id: 0-\d+\nevent: event\ndata: \{.*"reason":"Crashed".*"count":1.*\}\n\n$/);
    expect(told[1]).toContain('"count":2');
    expect((await firstOf(1, await streamOf('/api/v1/watch?topics=events&since=0-0')))[0]).toContain('"Before"');
  });
});

describe('the store', () => {
  it('is reported as it is, and why it does not respond', async () => {
    const { body, status } = await ask('GET /api/v1/store');
    expect([status, body]).toMatchObject([200, { kind: 'sqlite', bytes: expect.any(Number), problem: null }]);
    const failed = vi.spyOn(Kysely.prototype, 'selectFrom').mockImplementationOnce(() => {
      throw new Error('disk I/O error');
    });
    const away = (await ask('GET /api/v1/store')).body;
    failed.mockRestore();
    expect(away).toMatchObject({
      kind: 'sqlite',
      version: null,
      latency_ms: null,
      bytes: null,
      problem: 'disk I/O error',
    });
  });
});
