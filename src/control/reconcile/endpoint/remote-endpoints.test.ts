import { expect, test } from 'vitest';
import type { Json, ResourceRecord } from '../../../store/resources/resource-record.js';
import { FakePlane } from '../fake-plane.fixture.js';
import { FakeRoutes } from '../fake-routes.fixture.js';
import { RemoteEndpoints } from './remote-endpoints.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };
const HERE = 'http://127.0.0.1:9001';
const THERE = 'http://10.0.0.7:9001';

interface Shown {
  readonly id: string;
  readonly url: string;
  readonly phase?: string;
  readonly generation?: number;
  readonly gpu?: string;
}

async function opened(sharesLoopback: boolean) {
  const plane = await FakePlane.open();
  await plane.chat('  replicas: 2\n');
  const routes = new FakeRoutes();
  const remote = new RemoteEndpoints({ store: plane.store, routes, sharesLoopback: () => sharesLoopback });
  const stored = (await plane.store.resources.get(CHAT))!;
  /** The endpoint as its host reports it. */
  const record = (replicas: readonly Shown[], more: Partial<ResourceRecord> = {}): ResourceRecord => {
    const shown = replicas.map((one) => ({ phase: 'ready', generation: 1, ...one }));
    return { ...stored, status: { phase: 'Running', replicas: shown } as unknown as Json, ...more };
  };
  const routed = () => routes.endpoints.get('default/chat');
  return { remote, routes, record, routed };
}

test('routes to the ready replicas that the host reports, with the health path of their engine', async () => {
  const { record, remote, routed } = await opened(true);
  await remote.route(
    record([
      { id: 'a', url: HERE },
      { id: 'b', url: HERE, phase: 'starting' },
      { id: 'c', url: THERE },
    ]),
  );
  expect(routed()!.replicas).toEqual([
    expect.objectContaining({ id: 'a', url: HERE, models: ['tiny'], healthPath: '/health' }),
    expect.objectContaining({ id: 'c', url: THERE }),
  ]);
  expect(routed()).toMatchObject({ models: ['tiny'], waitsFor: 'its replicas are starting' });
});

test('routes to replicas with the GPU that the host reports', async () => {
  const { record, remote, routed } = await opened(true);
  await remote.route(record([{ id: 'a', url: HERE, gpu: 'H200' }]));
  expect(routed()!.replicas).toMatchObject([{ id: 'a', hardware: 'H200' }]);
});

test('keeps routes to replicas that are not ready any more while no other is', async () => {
  const { record, remote, routed } = await opened(true);
  const ids = () => routed()!.replicas.map(({ id }) => id);
  const [a, b] = [
    { id: 'a', url: HERE },
    { id: 'b', url: THERE },
  ];
  await remote.route(record([{ ...a, phase: 'unready' }]));
  expect(ids()).toEqual([]);
  await remote.route(record([a, b]));
  await remote.route(record([{ ...a, phase: 'unready' }, b]));
  expect(ids()).toEqual(['b']);
  await remote.route(
    record([
      { ...a, phase: 'unready' },
      { ...b, phase: 'unready' },
    ]),
  );
  expect(ids()).toEqual(['b']);
  await remote.route(record([a, { ...b, phase: 'exited' }]));
  expect(ids()).toEqual(['a']);
});

test.each([HERE, 'http://localhost:9001', 'http://127.8.9.1:80', 'http://[::1]:9001'])(
  'does not route to %s of another machine: requests are refused at once',
  async (url) => {
    const { record, remote, routed } = await opened(false);
    await remote.route(record([{ id: 'a', url }]));
    expect(routed()).toMatchObject({
      ...{ replicas: [], isIdle: true },
      waitsFor: 'its replicas cannot be reached from this gateway',
    });
    // Another replica of the endpoint is elsewhere.
    await remote.route(
      record([
        { id: 'a', url },
        { id: 'b', url: THERE },
      ]),
    );
    expect(routed()!.replicas.map(({ id }) => id)).toEqual(['b']);
  },
);

test('an update changes nothing of running replicas; replicas of another revision are asked for their models', async () => {
  const { record, remote, routed, routes } = await opened(true);
  await remote.route(record([{ id: 'a', url: HERE }]));
  const [before] = routed()!.replicas;
  await remote.route(
    record(
      [
        { id: 'a', url: HERE },
        { id: 'b', url: THERE },
      ],
      { generation: 2 },
    ),
  );
  expect(routed()!.replicas[0]).toBe(before);
  expect(routed()!.replicas[1]!.models).toBeNull();
  // The gateway is not called without a change.
  routes.putFails = new Error('called');
  await remote.route(
    record(
      [
        { id: 'a', url: HERE },
        { id: 'b', url: THERE },
      ],
      { generation: 2 },
    ),
  );
});

test('a paused, a failed and a deleted endpoint are not waited for', async () => {
  const { record, remote, routed } = await opened(true);
  const { spec, status } = record([]);
  await remote.route(record([], { spec: { ...(spec as object), replicas: 0 } as unknown as Json }));
  expect(routed()).toMatchObject({ waitsFor: 'it is paused', isIdle: true });
  await remote.route(record([], { status: { ...(status as object), phase: 'Failed' } as unknown as Json }));
  expect(routed()).toMatchObject({ waitsFor: 'its replicas cannot be started', isIdle: true });
  await remote.route(record([], { deletedAt: 1 }));
  expect(routed()).toBeUndefined();
});

test('leaves routes to the reconciler of an endpoint that is run here from now on', async () => {
  const { record, remote, routed } = await opened(true);
  await remote.route(record([{ id: 'a', url: HERE }]));
  expect([remote.forget(CHAT), remote.forget(CHAT)]).toEqual([true, false]);
  remote.remove(CHAT);
  expect(routed()!.replicas).toHaveLength(1);
});
