import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { eventLine, FakeApiServer, fakeObject, listOf, type Responder } from '../fake-api-server.fixture.js';
import { KubeClient } from '../kube-client.js';
import { ListWatch, type WatchTiming } from './list-watch.js';

const QUICK: Partial<WatchTiming> = { leastPauseMs: 1, mostPauseMs: 5 };
let changes: (() => void)[] = [];

afterEach(() => {
  changes = [];
});

async function follow(respond: (server: FakeApiServer) => Responder, timing: Partial<WatchTiming> = {}) {
  const server = await FakeApiServer.start(respond);
  const client = new KubeClient(server.access);
  const watch = new ListWatch({
    client,
    path: '/api/v1/namespaces/default/pods',
    labelSelector: 'app=vllm',
    timing: { ...QUICK, ...timing },
    random: () => 0.5,
    changed: () => {
      for (const wake of [...changes]) wake();
    },
  });
  onTestFinished(async () => {
    await watch.close();
    await client.close();
    await server.close();
  });
  const names = () => [...watch.cache.values()].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  /** Resolves when the cache, or the problem, is as a test expects. */
  const until = (isFulfilled: () => boolean) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        if (isFulfilled()) resolve();
      };
      changes.push(wake);
      wake();
    });
  return { server, watch, names, until };
}

/** A list with pod a, then watches that stay open. */
const calm: (server: FakeApiServer) => Responder = () => (call, response) => {
  if (call.isWatch) response.flushHeaders();
  else response.end(listOf('10', [fakeObject('a', '5')]));
};

describe('ListWatch', () => {
  it('lists, then watches from the version of the list', async () => {
    const { names, server, watch } = await follow(calm);
    await watch.synced;
    await server.until(() => server.watches.length === 1);
    expect(names()).toEqual(['a@5']);
    const { query } = server.calls[1]!;
    expect(query.get('resourceVersion')).toBe('10');
    expect(query.get('allowWatchBookmarks')).toBe('true');
    expect(query.get('timeoutSeconds')).toBe('300');
    expect(query.get('labelSelector')).toBe('app=vllm');
  });

  it('follows what is added, changed and deleted', async () => {
    const { names, server, until } = await follow(calm);
    await server.until(() => server.watches.length === 1);
    const [open] = server.watches;
    open!.write(eventLine('ADDED', fakeObject('b', '11')) + eventLine('MODIFIED', fakeObject('a', '12')));
    open!.write(eventLine('DELETED', fakeObject('b', '13')));
    await until(() => names().join() === 'a@12');
  });

  it('joins lines that arrive in pieces, and drops one that breaks off', async () => {
    const { names, server, until } = await follow(calm);
    await server.until(() => server.watches.length === 1);
    const line = eventLine('ADDED', fakeObject('b', '11'));
    server.watches[0]!.write(line.slice(0, 20));
    server.watches[0]!.write(line.slice(20) + eventLine('ADDED', fakeObject('c', '12')).slice(0, 30));
    await until(() => names().length === 2);
    server.watches[0]!.end();
    await server.until(() => server.calls.length === 3);
    expect(names()).toEqual(['a@5', 'b@11']);
    expect(server.calls[2]!.query.get('resourceVersion')).toBe('11');
  });

  it('ignores states older than what it has, and the end of an object that was replaced', async () => {
    const { names, server, until } = await follow(calm);
    await server.until(() => server.watches.length === 1);
    const [open] = server.watches;
    open!.write(eventLine('MODIFIED', fakeObject('a', '100')) + eventLine('MODIFIED', fakeObject('a', '99')));
    open!.write(
      eventLine('ADDED', fakeObject('b', '101', 'second')) + eventLine('DELETED', fakeObject('b', '90', 'first')),
    );
    open!.write(eventLine('ADDED', fakeObject('c', '102')));
    await until(() => names().length === 3);
    expect(names()).toEqual(['a@100', 'b@101', 'c@102']);
  });

  it('goes on from a bookmark after the watch has ended', async () => {
    const { server } = await follow(calm);
    await server.until(() => server.watches.length === 1);
    server.watches[0]!.end(eventLine('BOOKMARK', { metadata: { resourceVersion: '77' } }));
    await server.until(() => server.calls.length === 3);
    expect(server.calls[2]!.query.get('resourceVersion')).toBe('77');
    expect(server.lists).toHaveLength(1);
  });

  it.each([
    ['as a status', (response: { writeHead(status: number): { end(): void } }) => response.writeHead(410).end()],
    [
      'as an event',
      (response: { end(text: string): void }) =>
        response.end(eventLine('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' })),
    ],
  ])('lists again when its version is gone (%s)', async (_, gone) => {
    const { names, server, until } = await follow((api) => (call, response) => {
      if (!call.isWatch) response.end(listOf(`${api.lists.length}0`, [fakeObject(`list-${api.lists.length}`, '1')]));
      else if (api.calls.length === 2) gone(response as never);
      else response.flushHeaders();
    });
    await until(() => names().join() === 'list-2@1');
    await server.until(() => server.watches.length === 1);
    expect(server.calls.at(-1)!.query.get('resourceVersion')).toBe('20');
  });

  it('starts a silent watch again', async () => {
    const { server } = await follow(calm, { silenceMs: 20 });
    await server.until(() => server.calls.filter(({ isWatch }) => isWatch).length === 3);
    expect(server.lists).toHaveLength(1);
  });

  it('lists again from time to time, and finds what a watch has missed', async () => {
    const { names, server, until } = await follow(
      (api) => (call, response) => {
        if (call.isWatch) response.end();
        else response.end(listOf('10', api.lists.length < 3 ? [fakeObject('a', '5')] : [fakeObject('b', '6')]));
      },
      { relistMs: 0 },
    );
    await until(() => names().join() === 'b@6');
    expect(server.lists.length).toBeGreaterThanOrEqual(3);
  });

  it('reads a list page by page', async () => {
    const { names, server, watch } = await follow(() => (call, response) => {
      if (call.isWatch) response.flushHeaders();
      else if (call.query.get('continue') === null) response.end(listOf('10', [fakeObject('a', '1')], 'more'));
      else response.end(listOf('10', [fakeObject('b', '2')]));
    });
    await watch.synced;
    expect(names()).toEqual(['a@1', 'b@2']);
    expect(server.lists.map(({ query }) => [query.get('limit'), query.get('continue')])).toEqual([
      ['500', null],
      ['500', 'more'],
    ]);
  });

  it('keeps what it has while the API server is away, and says why', async () => {
    let isAway = false;
    const { names, server, until, watch } = await follow((api) => (call, response) => {
      if (isAway) response.destroy();
      else calm(api)(call, response);
    });
    await server.until(() => server.watches.length === 1);
    isAway = true;
    server.watches[0]!.destroy();
    await until(() => watch.problem !== null);
    expect(watch.problem).toMatch(/^http:\/\/127.0.0.1:\d+: the Kubernetes API cannot be reached \(/);
    expect(names()).toEqual(['a@5']);
    isAway = false;
    await until(() => watch.problem === null);
    expect(server.lists).toHaveLength(1);
  });

  it('reports a refusal at once, in the words of the API server', async () => {
    const message = 'pods is forbidden: User "x" cannot list resource "pods"';
    const { until, watch } = await follow(() => (_, response) => {
      response.writeHead(403).end(JSON.stringify({ kind: 'Status', reason: 'Forbidden', message }));
    });
    await until(() => watch.problem !== null);
    expect(watch.problem).toBe(message);
    expect(watch.isListed).toBe(false);
  });

  it('reads its token again when it is refused', async () => {
    const { names, server, watch } = await follow((api) => (call, response) => {
      if (call.authorization === 'Bearer old') response.writeHead(401).end();
      else calm(api)(call, response);
    });
    await watch.synced;
    expect(names()).toEqual(['a@5']);
    expect(server.calls.slice(0, 2).map(({ authorization }) => authorization)).toEqual(['Bearer old', 'Bearer new']);
  });
});
