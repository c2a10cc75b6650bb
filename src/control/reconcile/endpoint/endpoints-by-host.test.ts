import { expect, test } from 'vitest';
import type { ClusterReplica } from '../../runner/cluster-runners.js';
import { notLeading } from '../../runner/errors.js';
import { kubernetesType } from '../../runner/kubernetes/kubernetes-type.js';
import { localType } from '../../runner/local/local-type.js';
import type { RunnerType } from '../../runner/runner-type.js';
import { FakePlane } from '../fake-plane.fixture.js';
import { FakeRoutes } from '../fake-routes.fixture.js';
import { EndpointsByHost } from './endpoints-by-host.js';
import { RemoteEndpoints } from './remote-endpoints.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };
const AWAY = "cluster 'local' belongs to q1, where no control plane runs";

/** The endpoints of a process that leads, or whose host has the local cluster, as the test decides. */
async function opened() {
  const plane = await FakePlane.open();
  await plane.chat('  replicas: 1\n');
  await plane.ready();
  const { runners, store, timing } = plane;
  const routes = new FakeRoutes();
  const calls: string[] = [];
  const at = { isHere: false, problem: null as string | null, strays: [] as string[], type: localType as RunnerType };
  let failure: Error | null = null;
  const found = await runners.list();
  const endpoints = new EndpointsByHost({
    ...{ store, timing },
    local: {
      restore: () => 'nothing',
      forget: () => calls.push('forgotten'),
      async reconcile() {
        calls.push('reconciled');
        if (failure !== null) throw failure;
        return 7;
      },
    },
    remote: new RemoteEndpoints({ store, routes, sharesLoopback: () => true }),
    runners: {
      typeOf: () => at.type,
      list: async (): Promise<ClusterReplica[]> => at.strays.map((id) => ({ ...found[0]!, id })),
    },
    draining: { drain: ({ id }, withinMs) => calls.push(`${id} drains within ${withinMs} ms`) },
    isHere: () => at.isHere,
    hostProblem: () => at.problem,
  });
  const reconcile = async () => {
    const waitMs = await endpoints.reconcile(CHAT);
    return [waitMs, ...calls.splice(0)];
  };
  const fail = (error: Error) => {
    failure = error;
  };
  return { plane, routes, at, fail, reconcile };
}

test('an endpoint of another host is routed, and not reconciled', async () => {
  const { at, plane, reconcile, routes } = await opened();
  expect(await reconcile()).toEqual([null, 'forgotten']);
  expect(routes.routed()).toEqual(plane.runners.ids);
  // Now the cluster is here: its reconciler has the routes.
  at.isHere = true;
  expect(await reconcile()).toEqual([7, 'reconciled']);
  expect(routes.routed()).toEqual(plane.runners.ids);
});

test('an endpoint that another host has removed has no routes', async () => {
  const { plane, reconcile, routes } = await opened();
  await reconcile();
  await plane.delete();
  expect(await plane.shown()).toBeNull();
  expect(await reconcile()).toEqual([7, 'reconciled']);
  expect(routes.endpoints.size).toBe(0);
});

test('replicas of a cluster that has moved to another host are drained here', async () => {
  const { at, reconcile } = await opened();
  at.strays = ['chat-old'];
  expect(await reconcile()).toEqual([null, 'forgotten', expect.stringMatching(/^chat-old drains within \d+000 ms$/)]);
  // A cluster that the leader reaches as well: its replicas belong to no host.
  at.type = kubernetesType;
  expect(await reconcile()).toEqual([null, 'forgotten']);
});

test('leaves the rest to the next leader when the lease has ended in between', async () => {
  const { at, fail, reconcile } = await opened();
  at.isHere = true;
  fail(notLeading('prod'));
  expect(await reconcile()).toEqual([null, 'reconciled']);
  fail(new Error('another'));
  await expect(reconcile()).rejects.toThrow('another');
});

test('a change that waits for a host that does not run says so once, and a carried out one does not', async () => {
  const { at, plane, reconcile, routes } = await opened();
  at.problem = AWAY;
  expect(await reconcile()).toEqual([5000, 'forgotten']);
  expect(await plane.status()).toBe('Running 1: ');
  const uid = (await plane.shown())!.metadata.uid!;
  const status = (await plane.shown())!.status!;
  await plane.store.putStatus(CHAT, uid, { ...status, observed_generation: 0 });
  for (let i = 0; i < 3; i++) await reconcile();
  // The replicas that run still serve.
  expect(await plane.status()).toBe(`Running 1: ${AWAY}`);
  expect(routes.routed()).toEqual(plane.runners.ids);
  expect((await plane.events()).filter(([, reason]) => reason === 'HostAway')).toEqual([[1, 'HostAway', AWAY]]);
});
