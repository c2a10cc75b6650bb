import { expect, it } from 'vitest';
import { foundServeReplicas, type ServeDetails } from './found-replicas.js';

const CONTROLLER = { actor_name: 'SERVE_CONTROLLER_ACTOR' };
const target = (name: string, port: unknown = 30_000, ip: unknown = '10.0.0.2') => ({ ip, port, name });
const group = (app_name: string, targets: readonly object[], more: object = {}) =>
  ({ app_name, protocol: 'HTTP', ingress_deployment_name: 'M', targets, ...more }) as NonNullable<
    ServeDetails['target_groups']
  >[number];
const proxies = group('', [target('SERVE_PROXY_ACTOR-1', 8000)]);

function found(change: Partial<ServeDetails>, app: string | null = null) {
  const applications = { chat: { route_prefix: '/' } };
  return foundServeReplicas({ controller_info: CONTROLLER, applications, target_groups: [], ...change }, { app });
}

it('finds the replicas of the application with the route prefix /, ordered by id', () => {
  const targets = [target('SERVE_REPLICA::chat#LLM:qwen/3#b2', 30_001), target('SERVE_REPLICA::chat#LLM:qwen/3#a1')];
  expect(found({ target_groups: [group('chat', targets)] })).toEqual({
    replicas: [
      { id: 'chat.LLM:qwen-3.a1', url: 'http://10.0.0.2:30000' },
      { id: 'chat.LLM:qwen-3.b2', url: 'http://10.0.0.2:30001' },
    ],
    problem: null,
  });
});

it('writes IPv6 addresses in brackets, and leaves out gRPC, other applications, proxies and what is no address', () => {
  const targets = [
    target('SERVE_REPLICA::chat#M#a', 1, 'fd00::2'),
    target('SERVE_PROXY_ACTOR-1', 8000),
    target('SERVE_REPLICA::chat#M#b', 0),
    target('SERVE_REPLICA::chat#M#c', 1, 'evil.example/path'),
    { ip: '10.0.0.1', port: 1 },
  ];
  const groups = [
    group('chat', targets),
    group('chat', [target('SERVE_REPLICA::chat#M#d')], { protocol: 'gRPC' }),
    group('other', [target('SERVE_REPLICA::other#M#e')]),
    group('chat', null as never),
  ];
  expect(found({ target_groups: groups }).replicas).toEqual([{ id: 'chat.M.a', url: 'http://[fd00::2]:1' }]);
});

it('has no replicas of an application that has none: its targets are proxies then', () => {
  expect(found({ target_groups: [group('chat', proxies.targets!)] })).toEqual({ replicas: [], problem: null });
});

it.each([
  ['Serve does not run', { controller_info: {} }, null, 'Ray Serve does not run there'],
  [
    'new code of the application is built',
    { target_groups: [group('chat', proxies.targets!, { ingress_deployment_name: '' })] },
    null,
    null,
  ],
  [
    'the application has no route prefix',
    { applications: { chat: { route_prefix: null } } },
    'chat',
    "application 'chat' has no route prefix: it is being deployed, or serves no HTTP",
  ],
  [
    'Serve publishes proxies only',
    { target_groups: [proxies] },
    null,
    'Ray Serve publishes its proxies and no replicas: start every node with RAY_SERVE_ENABLE_DIRECT_INGRESS=1 and without RAY_SERVE_ENABLE_HA_PROXY',
  ],
  [
    'an application is being deployed and none has the route prefix /',
    { applications: { a: { route_prefix: '/a' }, b: { route_prefix: null } } },
    null,
    "no application has the route prefix '/': deployed are a, b",
  ],
])('does not know the replicas when %s: those seen last may still be there', (_, change, app, problem) => {
  expect(found(change as Partial<ServeDetails>, app)).toEqual({ replicas: null, problem });
});

it.each([
  ['nothing is deployed', { applications: {}, target_groups: [proxies] }, null, null],
  ['the application is not deployed', { target_groups: [proxies] }, 'other', "application 'other' is not deployed"],
  ['the name is that of a property of all objects', {}, 'toString', "application 'toString' is not deployed"],
  [
    'none has the route prefix /',
    { applications: { a: { route_prefix: '/a' } } },
    null,
    "no application has the route prefix '/': deployed are a",
  ],
  [
    'it has another route prefix',
    { applications: { a: { route_prefix: '/a' } } },
    'a',
    "application 'a' has the route prefix '/a': deploy it with '/', for /v1 paths",
  ],
])('finds none when %s', (_, change, app, problem) => {
  expect(found(change as Partial<ServeDetails>, app)).toEqual({ replicas: [], problem });
});
