import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayConfig } from '../../gateway/config/gateway-config.js';
import { configFor, FakeEngine, until } from '../../gateway/fake-engine.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import type { ApiHost } from '../api-host.js';
import type { ApiRequest } from '../api-route.js';
import { serveApi } from '../api-server.js';
import { RECORDING_ROUTE } from './recording-route.js';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function gatewayOf(change: Partial<GatewayConfig>): Promise<Gateway> {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  const gateway = new Gateway(configFor([engine], change));
  gateway.api = serveApi(gateway);
  await gateway.start();
  opened.push(() => gateway.close(0));
  await until(() => gateway.isReady);
  return gateway;
}

async function recording(gateway: Gateway, query = '', endpoint = 'default') {
  const response = await fetch(
    `${gateway.adminUrl}/api/v1/workspaces/default/endpoints/${endpoint}/recording${query}`,
    { headers: { authorization: `Bearer ${gateway.adminToken}` } },
  );
  const text = await response.text();
  const events = text.split('\n\n').map((event) => event.split('\n'));
  const of = (name: string) =>
    events.flatMap(([event, data]) => (event === `event: ${name}` ? [JSON.parse(data!.slice('data: '.length))] : []));
  return { status: response.status, text, facts: of('facts')[0], requests: of('request'), ends: of('end').length };
}

describe('the recording of an endpoint', () => {
  it('has how requests were decided, each request without text, and an end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-recording-'));
    opened.push(() => rmSync(folder, { recursive: true }));
    const gateway = await gatewayOf({ record: { path: join(folder, 'traffic.jsonl'), maxBytes: 1e6, files: 1 } });
    const body = '{"model":"m","messages":[{"role":"user","content":"the-secret-question"}]}';
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body })).text();
    // Lines are written together, several times a second.
    let read = await recording(gateway);
    while (read.requests.length === 0) read = await recording(gateway);
    const { ends, facts, requests, text } = read;
    expect(facts).toMatchObject({
      endpoint: 'default',
      policy: { policy: 'round-robin', options: {} },
      admission: { policy: 'always-admit' },
      ...{ flowControl: null, blockSize: 16, signalsMs: 1000 },
    });
    expect(requests).toMatchObject([{ endpoint: 'default', model: 'm', replica: 'r0', status: 200 }]);
    expect([ends, text.includes('the-secret-question')]).toEqual([1, false]);
    expect((await recording(gateway, '?last=1us')).requests).toEqual([]);
    const at = new Date(Math.floor(requests[0].t_us / 1000)).toISOString();
    expect((await recording(gateway, `?from=${at}`)).requests).toEqual(requests);
    expect((await recording(gateway, `?from=2020-01-01T00:00:00Z&to=${at}`)).requests).toEqual([]);
    expect((await recording(gateway, '?from=yesterday')).status).toBe(400);
    expect((await recording(gateway, '?last=soon')).status).toBe(400);
    expect((await recording(gateway, '', 'none')).status).toBe(404);
  });

  it('is read by at most two at a time', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-recording-'));
    opened.push(() => rmSync(folder, { recursive: true }));
    const gateway = await gatewayOf({ record: { path: join(folder, 'traffic.jsonl'), maxBytes: 1e6, files: 1 } });
    const params = { workspace: 'default', name: 'default' };
    const leaving = new AbortController();
    const call = { params, query: { last: '1h' }, signal: leaving.signal } as unknown as ApiRequest<never, never>;
    const read = () => RECORDING_ROUTE.handle({ gateway } as unknown as ApiHost, call);
    for (let i = 0; i < 2; i++) read();
    expect(read).toThrow(expect.objectContaining({ code: 'API_STREAMS_FULL' }));
    leaving.abort();
    expect((await recording(gateway)).ends).toBe(1);
  });

  it('is refused where traffic is not recorded', async () => {
    const { status, text } = await recording(await gatewayOf({}));
    expect([status, text.includes("set 'record' in its configuration")]).toEqual([409, true]);
  });
});
