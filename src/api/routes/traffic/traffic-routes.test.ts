import { afterEach, expect, it } from 'vitest';
import { FakeEngine, startGateway, until } from '../../../gateway/fake-engine.fixture.js';
import type { Gateway } from '../../../gateway/gateway.js';
import { serveApi } from '../../api-server.js';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function served(): Promise<Gateway> {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  const gateway = await startGateway([engine]);
  opened.push(() => gateway.close(0));
  gateway.api = serveApi(gateway);
  await until(() => gateway.isReady);
  return gateway;
}

async function chat(gateway: Gateway, id: string, model = 'm'): Promise<void> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-request-id': id },
    body,
  });
  await response.text();
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
async function ask(gateway: Gateway, path: string): Promise<any> {
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  return (await fetch(`${gateway.adminUrl}/api/v1/${path}`, { headers })).json();
}

it('lists requests page by page, filtered on the server, with the number of all that fit', async () => {
  const gateway = await served();
  for (const id of ['a-1', 'a-2', 'b-1']) await chat(gateway, id);
  await until(() => gateway.inFlight === 0);
  const first = await ask(gateway, 'requests?limit=2');
  expect(first.items.map(({ id }: { id: string }) => id)).toEqual(['b-1', 'a-2']);
  expect(first.total).toBe(3);
  const second = await ask(gateway, `requests?limit=2&cursor=${first.next}`);
  expect([second.items.map(({ id }: { id: string }) => id), second.next]).toEqual([['a-1'], null]);
  expect(await ask(gateway, 'requests?id=a-')).toMatchObject({ total: 2, items: [{ id: 'a-2' }, { id: 'a-1' }] });
  expect((await ask(gateway, 'requests?endpoint=default&outcome=ok')).total).toBe(3);
  for (const filter of [
    'outcome=failed',
    'min_duration_ms=100000000',
    'endpoint=none',
    'replica=x',
    'class=x',
    'key=x',
  ]) {
    expect([filter, (await ask(gateway, `requests?${filter}`)).total]).toEqual([filter, 0]);
  }
});

it('returns one request with its times, and says where others are when there is none of that id', async () => {
  const gateway = await served();
  await chat(gateway, 'one');
  await until(() => gateway.inFlight === 0);
  const one = await ask(gateway, 'requests/one');
  expect(one).toMatchObject({ id: 'one', workspace: 'default', endpoint: 'default', status: 200, outcome: 'ok' });
  expect(one.duration_ms).toBeGreaterThan(0);
  expect(one.dispatch_ms).toBeLessThanOrEqual(one.duration_ms);
  expect((await ask(gateway, 'requests/none')).error.code).toBe('API_REQUEST');
});

it('sums up the traffic of all endpoints on the server', async () => {
  const gateway = await served();
  for (const id of ['a', 'b', 'c']) await chat(gateway, id);
  await until(() => gateway.inFlight === 0);
  const { items, series, total } = await ask(gateway, 'traffic');
  expect(items).toMatchObject([{ workspace: 'default', name: 'default', replicas: 1, ready: 1 }]);
  expect(total.requests_per_s).toBe(items[0].requests_per_s);
  expect(total.requests_per_s).toBeGreaterThan(0);
  expect(series.requests_per_s.length).toBe(series.ttft_p50_ms.length);
  expect((await ask(gateway, 'traffic?endpoint=none')).total).toMatchObject({ requests_per_s: 0, replicas: 0 });
});
