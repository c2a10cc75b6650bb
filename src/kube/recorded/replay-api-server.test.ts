import { expect, onTestFinished, test } from 'vitest';
import { KubeClient } from '../kube-client.js';
import { ListWatch } from '../watch/list-watch.js';
import type { RecordedLine } from './recorded-exchange.fixture.js';
import { ReplayApiServer } from './replay-api-server.fixture.js';

const PODS = '/api/v1/namespaces/n/pods';
const EARLY = { method: 'GET', path: PODS, contentType: '', body: null, by: 'runner' } as const;
const pod = (name: string, version: number, more: object = {}) => ({
  metadata: { name, namespace: 'n', uid: name, resourceVersion: String(version) },
  ...more,
});
const list = (version: number) => ({ metadata: { resourceVersion: String(version) }, items: [] });
const post = (call: number, body: object, version: number): RecordedLine[] => [
  { call, method: 'POST', path: PODS, query: '', contentType: 'application/json', body, by: 'runner' },
  { response: call, status: 201, body: pod('made', version) },
];

/** A pod is created between two others, each with an address. */
const LINES: readonly RecordedLine[] = [
  { recordedAt: 0, namespace: 'n' },
  { call: 0, ...EARLY, query: 'limit=500' },
  { response: 0, status: 200, body: list(1) },
  { call: 1, ...EARLY, query: 'watch=true&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=300' },
  { event: 1, body: { type: 'ADDED', object: pod('before', 2) } },
  ...post(2, { at: '2020-01-01T00:00:00.123Z', ip: '127.1.2.3' }, 3),
  { event: 1, body: { type: 'ADDED', object: pod('after', 4, { ip: '127.1.2.3', at: '2020-01-01T00:00:00Z' }) } },
  { call: 3, ...EARLY, query: '' },
  { response: 3, status: 200, body: { ...list(5), last: true } },
];

async function replay(lines = LINES) {
  const server = await ReplayApiServer.of(lines);
  const client = new KubeClient(server.access);
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return { client, server };
}

test('events and reads come after the writes that were made before them, with the values of now', async () => {
  const { client, server } = await replay();
  let wake = () => {};
  const watch = new ListWatch({ client, path: PODS, changed: () => wake() });
  onTestFinished(() => watch.close());
  const seen = () => [...watch.cache.values()].map(({ metadata }) => metadata.name);
  const until = async (count: number) => {
    while (seen().length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  await until(1);
  let isRead = false;
  const last = client.json<{ last: boolean }>(PODS).then((body) => {
    isRead = true;
    return body;
  });
  // It passes what is held: a call that nothing waits for.
  await new KubeClient({ ...server.access, server: `${server.access.server}/as/test` })
    .json('/version')
    .catch(() => {});
  expect([seen(), isRead]).toEqual([['before'], false]);
  await client.json(PODS, { method: 'POST', body: { at: '2026-05-05T05:05:05.999Z', ip: '127.9.9.9' } });
  expect((await last).last).toBe(true);
  await until(2);
  const after = { ip: '127.9.9.9', at: '2026-05-05T05:05:05Z' };
  expect(watch.cache.get('n', 'after')).toMatchObject(after);
  expect(server.faults).toEqual([]);
});

test('a call of the runner that differs from the recording is refused and named', async () => {
  const { client, server } = await replay();
  const other = client.json(PODS, { method: 'POST', body: { at: '2026-05-05T05:05:05.999Z', port: 1 } });
  await expect(other).rejects.toMatchObject({ status: 501, message: 'this call was not recorded' });
  expect(server.faults).toEqual([expect.stringContaining('not recorded: runner: POST /api/v1/namespaces/n/pods')]);
});

test('a write that changed nothing holds back nothing', async () => {
  const [head, first, response] = LINES;
  const idle = post(5, {}, 1);
  const { client } = await replay([
    head!,
    first!,
    response!,
    ...idle,
    { call: 6, ...EARLY, query: 'limit=1' },
    {
      response: 6,
      status: 200,
      body: list(1),
    },
  ]);
  expect(await client.json(PODS, { query: { limit: 1 } })).toEqual(list(1));
});
