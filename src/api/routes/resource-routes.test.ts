import { describe, expect, it } from 'vitest';
import { ask, CHAT, ENDPOINTS, endpoint, host, withFakeApi } from '../fake-api.fixture.js';

withFakeApi();

describe('resources over the API', () => {
  it('are created, listed, returned, changed and deleted', async () => {
    const made = await ask(`POST ${ENDPOINTS}`, { body: endpoint({}, { labels: { team: 'x' } }) });
    expect(made).toMatchObject({ status: 201, body: { metadata: { generation: 1 }, spec: { replicas: 1 } } });
    expect(await ask(`GET ${CHAT}`)).toEqual({ status: 200, body: made.body });
    const listed = await ask(`GET ${ENDPOINTS}?labels=team%3Dx`);
    expect(listed.body).toEqual({
      ...{ kind: 'EndpointList', resource_version: host.feed.version, items: [made.body], next: null },
    });
    expect((await ask(`GET ${ENDPOINTS}?labels=team%3Dy`)).body.items).toEqual([]);
    expect((await ask('GET /api/v1/endpoints')).body.items).toHaveLength(1);
    expect((await ask('GET /api/v1/engines')).body.items).toHaveLength(6);
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

  it('are found by a part of their name and by their phase, and sorted, page by page', async () => {
    for (const name of ['alpha', 'beta', 'gamma', 'al-pha', 'm-100']) {
      await ask(`POST ${ENDPOINTS}`, { body: endpoint({}, { name }) });
    }
    const names = async (query: string) => {
      const all: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await ask(`GET ${ENDPOINTS}?limit=2&${query}${cursor}`);
        all.push(...body.items.map((one: { metadata: { name: string } }) => one.metadata.name));
        if (body.next === null) return all;
        cursor = `&cursor=${body.next}`;
      }
    };
    const sorted = ['al-pha', 'alpha', 'beta', 'gamma', 'm-100'];
    expect(await names('sort=name')).toEqual(sorted);
    expect(await names('sort=-name')).toEqual([...sorted].reverse());
    const created = await names('sort=created');
    expect([...created].sort()).toEqual(sorted);
    expect(await names('sort=-created')).toEqual([...created].reverse());
    expect(await names('search=pha')).toEqual(['al-pha', 'alpha']);
    expect(await names('search=%25')).toEqual([]);
    await ask(`PATCH ${ENDPOINTS}/beta/status`, { body: { phase: 'Running' } });
    expect(await names('phase=Running')).toEqual(['beta']);
    expect(await names('phase=Running&search=alpha')).toEqual([]);
    const cursor = (await ask(`GET ${ENDPOINTS}?limit=2`)).body.next;
    expect((await ask(`GET ${ENDPOINTS}?sort=created&cursor=${cursor}`)).status).toBe(400);
    const counted = async (query: string) => {
      const { is_more, total } = (await ask(`GET ${ENDPOINTS}?limit=2&count=true${query}`)).body;
      return [total, is_more];
    };
    expect(await counted('')).toEqual([5, false]);
    expect(await counted(`&cursor=${cursor}`)).toEqual([5, false]);
    expect(await counted('&search=pha')).toEqual([2, false]);
    expect(await counted('&phase=Running')).toEqual([1, false]);
    expect(await counted('&labels=!team')).toEqual([5, false]);
    expect(await counted('&labels=team=x')).toEqual([0, false]);
    expect((await ask(`GET ${ENDPOINTS}?limit=2`)).body).not.toHaveProperty('total');
  });

  it('are projected to the wanted fields, in lists and alone', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint({}, { labels: { 'team.of/x': 'y' } }) });
    const name = { metadata: { name: 'chat' } };
    expect((await ask(`GET ${CHAT}?fields=metadata.name`)).body).toEqual(name);
    const listed = (await ask('GET /api/v1/endpoints?fields=metadata.name,spec.engine.name,%20spec.replicas')).body;
    expect(listed).toEqual({
      ...{ kind: 'EndpointList', resource_version: host.feed.version, next: null },
      items: [{ ...name, spec: { engine: { name: 'emulator' }, replicas: 1 } }],
    });
    expect((await ask(`GET ${CHAT}?fields=metadata.labels.team.of/x,status.url,spec.env.A`)).body).toEqual({
      metadata: { labels: { 'team.of/x': 'y' } },
      spec: { env: {} },
    });
    const whole = (await ask(`GET ${CHAT}`)).body;
    expect((await ask(`GET ${CHAT}?fields=spec.replicas,spec,metadata,apiVersion,kind`)).body).toEqual(whole);
    expect((await ask('GET /api/v1/engines/emulator?fields=spec.versions')).body).toEqual({
      spec: { versions: expect.objectContaining({ v1: expect.anything() }) },
    });
  });

  it.each([
    ['metadata.nme', "there is no 'nme' in metadata of Endpoint; did you mean 'name'? known: name"],
    ['stat', "there is no 'stat' in Endpoint; known: apiVersion, kind, metadata, spec, status"],
    ['', 'is empty'],
    ['metadata.name,', "there is no '' in Endpoint"],
    ['__proto__', "there is no '__proto__' in Endpoint"],
    ['spec.replicas.x', 'spec.replicas of Endpoint has no fields; give spec.replicas'],
    ['status.replicas.idd', "there is no 'idd' in status.replicas of Endpoint; did you mean 'id'?"],
    [Array(101).fill('kind').join(), 'has more than 100 fields'],
  ])('are not projected to fields that do not exist: %s', async (fields, message) => {
    for (const path of [ENDPOINTS, CHAT]) {
      const { body, status } = await ask(`GET ${path}?fields=${encodeURIComponent(fields)}`);
      expect([status, body.error.code]).toEqual([400, 'API_QUERY']);
      expect(body.error.message).toContain(message.split(';')[0]);
      expect(`${body.error.message}; ${body.error.hint}`).toContain(message.split('; ')[1] ?? '');
    }
  });

  it('are refused with the arithmetic when a model does not fit into the GPUs of the cluster', async () => {
    const accelerators = [{ id: '0', product: 'NVIDIA L4', memory: '24Gi' }];
    const head = { apiVersion: 'twinyard/v1', kind: 'Cluster', metadata: { name: 'local' } };
    await ask('PUT /api/v1/clusters/local', { body: JSON.stringify({ ...head, spec: { accelerators } }) });
    const spec = { engine: { name: 'vllm' }, resources: { gpus: 1 } };
    const { body, status } = await ask(`POST ${ENDPOINTS}`, { body: endpoint(spec) });
    expect([status, body.error.message]).toEqual([
      422,
      expect.stringContaining(
        '27.5 GiB of weights, and 2.5 MiB for one block of KV; 1 x 24 GiB x 0.92 = 22.1 GiB are usable',
      ),
    ]);
    const quantised = { ...spec, variables: { quantization: 'fp8' } };
    expect((await ask(`POST ${ENDPOINTS}`, { body: endpoint(quantised) })).status).toBe(201);
  });

  it('are created by PUT where there are none, in the workspace of the path, from YAML too', async () => {
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
        error: {
          code: 'RESOURCE_INVALID',
          problems: [{ place: expect.stringMatching(/^body:1:\d+ \(spec\.replicas\)$/) }],
        },
      },
    });
    expect((await ask(`POST ${ENDPOINTS}`, { body: endpoint({ variables: { a: 1 } }) })).body.error.code).toBe(
      'RESOURCE_VARIABLE',
    );
    expect(await ask(`POST ${ENDPOINTS}`, { body: '' })).toMatchObject({
      status: 400,
      body: { error: { code: 'RESOURCE_DOCUMENT' } },
    });
    expect((await ask(`PUT ${ENDPOINTS}/other`, { body: endpoint() })).body.error).toMatchObject({
      code: 'API_PATH',
      message: expect.stringContaining("is 'chat', but the path says 'other'"),
    });
    expect((await ask(`POST /api/v1/engines`, { body: endpoint() })).body.error.code).toBe('API_PATH');
    expect((await ask(`PUT ${CHAT}`, { body: endpoint({}, { workspace: 'b' }) })).body.error.code).toBe('API_PATH');
    const two = `${JSON.stringify(endpoint())}\n---\n${JSON.stringify(endpoint({}, { name: 'b' }))}`;
    expect((await ask(`POST ${ENDPOINTS}`, { body: two })).body.error.message).toContain('holds 2 resources');
    for (const method of ['GET', 'DELETE']) expect((await ask(`${method} ${CHAT}`)).status).toBe(404);
    expect((await ask(`GET ${ENDPOINTS}?labels=%3D`)).status).toBe(400);
  });

  it('return 409 with the differences when another change came first', async () => {
    const { body } = await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    expect((await ask(`POST ${ENDPOINTS}`, { body: endpoint() })).status).toBe(409);
    const version = String((body.metadata as { resource_version: number }).resource_version);
    await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 2 }), ifMatch: `"${version}"` });
    expect(await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 3 }), ifMatch: version })).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'RESOURCE_CONFLICT',
          differences: [{ path: 'spec.replicas', before: 1, after: 2 }],
          current: { spec: { replicas: 2 } },
        },
      },
    });
    expect((await ask(`DELETE ${CHAT}`, { ifMatch: version })).status).toBe(409);
    expect((await ask(`DELETE ${CHAT}`, { ifMatch: 'soon' })).status).toBe(400);
    expect((await ask(`PUT ${CHAT}`, { body: endpoint({ replicas: 3 }), ifMatch: '*' })).status).toBe(200);
    expect(await ask('DELETE /api/v1/engines/emulator')).toMatchObject({
      status: 409,
      body: { error: { code: 'RESOURCE_BUILT_IN', message: expect.stringContaining('Engine emulator: is built in') } },
    });
  });

  it('are listed page by page, by workspace and name, none twice', async () => {
    for (const name of ['c', 'a', 'e', 'b', 'd']) await ask(`POST ${ENDPOINTS}`, { body: endpoint({}, { name }) });
    const names: string[] = [];
    let cursor = '';
    do {
      const { body } = await ask(`GET ${ENDPOINTS}?limit=2${cursor}`);
      names.push(...body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name));
      cursor = body.next === null ? '' : `&cursor=${body.next}`;
      // What is deleted meanwhile does not move the pages.
      if (names.length === 2) {
        const ref = { kind: 'Endpoint', workspace: 'default', name: 'a' };
        const { uid } = (await host.store.delete('alice', ref)).metadata;
        await host.store.remove(ref, uid!);
      }
    } while (cursor !== '');
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('have a status and parts that a patch of any size changes within the limits of documents', async () => {
    await ask(`POST ${ENDPOINTS}`, { body: endpoint() });
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, '1']));
    const some = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, '1']));
    for (const [path, body, status] of [
      [`${CHAT}/status`, many, 413],
      [CHAT, { spec: { variables: many } }, 413],
      [CHAT, { metadata: { labels: many } }, 413],
      [`${CHAT}/status`, some, 422],
      [CHAT, { spec: { variables: some } }, 422],
    ] as const) {
      const refused = await ask(`PATCH ${path}`, { body });
      expect([path, refused.status]).toEqual([path, status]);
      expect(refused.body.error.problems.length).toBeLessThanOrEqual(100);
    }
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
      body: { error: { problems: [{ place: 'body (phase)' }] } },
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
    expect((await ask('GET /api/v1/events?kind=ep&workspace=default')).body).toMatchObject({ items: [event] });
    expect((await ask('GET /api/v1/events?limit=0')).body.error.code).toBe('API_QUERY');
  });
});
