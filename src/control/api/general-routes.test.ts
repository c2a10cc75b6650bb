import { describe, expect, it } from 'vitest';
import type { Caller } from './caller.js';
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
} from './fake-api.fixture.js';

withFakeApi();

describe('resources of a file', () => {
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
    const hint = (response: Answered) => (response.body.key as string).slice(-4);
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

describe('watch', () => {
  it('is a stream of events that can be taken up again', async () => {
    const since = host.feed.version;
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    await ask(`DELETE ${CHAT}`);
    const stream = await streamOf(`/api/v1/watch?kind=endpoints&since=${since}`);
    const events: string[] = [];
    for await (const event of stream) {
      events.push(event);
      if (events.length === 2) break;
    }
    expect(events[0]).toMatch(new RegExp(`^id: ${since + 1}\nevent: created\ndata: \\{.*"name":"chat".*\\}\n\n$`));
    expect(events[1]).toMatch(/^id: \d+\nevent: deleting\n/);
    const told: string[] = [];
    for await (const event of await streamOf('/api/v1/watch?since=0')) told.push(event);
    expect(told).toEqual([`id: ${since + 2}\nevent: gone\ndata: {"type":"gone","version":${since + 2}}\n\n`]);
    expect((await ask('GET /api/v1/watch?kind=nothing')).status).toBe(400);
  });
});

/** The first of a stream that is not a comment. */
async function firstOf(stream: AsyncIterable<string>): Promise<string[]> {
  for await (const event of stream) if (!event.startsWith(':')) return [event];
  return [];
}

describe('events', () => {
  it('are not those of others that had the name, unless those are asked for', async () => {
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
    const watch = await streamOf('/api/v1/events/watch?kind=ep&workspace=default&name=chat&since=0', left.signal);
    await happens('After');
    const [first] = await firstOf(watch);
    left.abort();
    expect(first).toContain('"reason":"After"');
    expect([await reasons(named), await reasons(`${CHAT}/events`)]).toEqual([['After'], ['After']]);
    expect(await reasons(`${named}&former=true`)).toEqual(['After', 'Before']);
  });

  it('are told as they happen, from one on, again when they happen again, by kind, workspace and name', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const record = (await host.store.resources.get({ kind: 'Endpoint', workspace: 'default', name: 'chat' }))!;
    await host.store.events.add(record, 'normal', 'Before', 'x');
    const stream = await streamOf('/api/v1/events/watch?kind=ep&workspace=default&name=chat');
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
    for await (const event of await streamOf('/api/v1/events/watch?since=0')) {
      expect(event).toContain('"reason":"Before"');
      break;
    }
  });
});
