import { expect, test } from 'vitest';
import { openStore } from '../../store/open-store.js';
import type { Endpoint } from '../fleet/endpoint/endpoint.js';
import { addEndpointEvent, EndpointChanges } from './endpoint-events.js';

type Looked = Parameters<EndpointChanges['look']>[0];
interface State {
  state?: string;
  isOpen?: boolean;
  problem?: string;
}

const endpoint = (policy: string, replicas: Record<string, State>, policyHash = policy) =>
  ({
    policy: { name: policy },
    policyHash,
    replicas: Object.entries(replicas).map(([id, { isOpen = false, problem = '', state = 'ready' }]) => ({
      ...{ id, state, problem, breaker: { isOpen } },
    })),
  }) as unknown as Looked;

const shown = (changes: EndpointChanges, now: Looked) =>
  changes.look(now).map(({ message, reason, type }) => `${type} ${reason}: ${message}`);

test('reports how an endpoint of the file starts, then what changes, once', () => {
  const changes = new EndpointChanges();
  expect(shown(changes, endpoint('unified', { a: {}, b: {} }))).toEqual([
    'normal Serving: serving with unified, 2 of 2 replicas ready',
  ]);
  const worse = { a: { state: 'unhealthy', problem: 'connection refused' }, b: { isOpen: true }, c: {} };
  expect(shown(changes, endpoint('unified', worse))).toEqual([
    'warning Unhealthy: replica a: connection refused',
    'warning BreakerOpen: replica b fails its requests',
    'normal Ready: replica c is ready',
  ]);
  expect(shown(changes, endpoint('unified', worse))).toEqual([]);
  expect(shown(changes, endpoint('lmetric', { c: {} }))).toEqual([
    'normal PolicySwapped: lmetric serves, before unified',
    'normal Left: replica a has left',
    'normal Left: replica b has left',
  ]);
  expect(shown(changes, endpoint('lmetric', { c: {} }, 'other'))).toEqual([
    'normal PolicySwapped: lmetric has other options',
  ]);
});

test('reports replicas that are not ready at the start, and many changes at once as one', () => {
  const changes = new EndpointChanges();
  const many = (state: State) => Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`r${i}`, state]));
  expect(shown(changes, endpoint('unified', many({ state: 'starting' })))).toEqual([
    'warning Serving: serving with unified, 0 of 9 replicas ready',
  ]);
  expect(shown(changes, endpoint('unified', many({})))).toEqual([
    'normal Ready: replica r0 is ready; the same of 8 other replicas',
  ]);
});

test('stores events of endpoints of the file, and none of endpoints that are not served', async () => {
  const store = await openStore(':memory:');
  const endpoints = new Map([['chat', { name: 'chat', managed: null } as Endpoint]]);
  const event = { type: 'normal', reason: 'Ready', message: 'replica a is ready' } as const;
  await addEndpointEvent({ endpoints, store }, 'chat', event);
  await addEndpointEvent({ endpoints, store }, 'other', event);
  expect(await store.events.list({})).toMatchObject([
    { kind: 'Endpoint', workspace: 'default', name: 'chat', uid: 'file:chat', reason: 'Ready' },
  ]);
  await store.close();
  // Neither without a store nor with one that is away.
  await addEndpointEvent({ endpoints, store }, 'chat', event);
  await addEndpointEvent({ endpoints, store: null }, 'chat', event);
});
