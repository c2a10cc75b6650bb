import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { GATEWAY_DEFAULTS, type GatewayConfig } from '../src/gateway/config/gateway-config.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { Collector } from '../src/gateway/telemetry/tracing/collector.fixture.js';
import { randomStream } from '../src/kernel/random-stream.js';
import { newKey as storedKey } from '../src/store/keys/new-key.fixture.js';
import { openStore, type Store } from '../src/store/open-store.js';
import { describeStores } from '../src/store/stores.fixture.js';
import type { UsageSum } from '../src/store/usage/usage-record.js';
import { fakeEngine, metric, question, until } from './support/engine-fixture.js';
import { afterwards, expectIdle, gatewayOver, RawReplica } from './support/gateway-fixture.js';
import { expectNowhere, plantedBody, plantedHeaders } from './support/planted-secrets.js';
import { serveProcess } from './support/serve-process.js';

const root = mkdtempSync(join(tmpdir(), 'twinyard-access-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;

/** The configuration of a gateway that requires keys, with its own store. */
function withStore(): Pick<GatewayConfig, 'store' | 'dataDir' | 'access'> {
  const folder = join(root, String(folders++));
  const access = { ...GATEWAY_DEFAULTS.access, keys: 'required' as const };
  return { store: join(folder, 'keys.db'), dataDir: join(folder, 'data'), access };
}

let keys = 0;

async function newKey(gateway: Gateway, spec: Parameters<typeof storedKey>[2] = {}): Promise<string> {
  return (await storedKey(gateway.store!, `app-${keys++}`, spec)).secret;
}

function ask(url: string, key: string, body: object = question('hello', { max_tokens: 3 }), path = 'chat/completions') {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(`${url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Statuses and how often each came. */
async function asked(calls: Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const response of await Promise.all(calls)) {
    counts[response.status] = (counts[response.status] ?? 0) + 1;
    await response.text();
  }
  return counts;
}

const usageOf = (store: Store, by: readonly ('outcome' | 'model' | 'endpoint')[] = []): Promise<UsageSum[]> =>
  store.usage.query({ by });

describe('keys', () => {
  test('that are optional count where they are given: without one, or with one made up, requests are served', async () => {
    const place = withStore();
    const access = { ...place.access, keys: 'optional' as const };
    const gateway = await gatewayOver([await fakeEngine()], { ...place, access });
    const key = await newKey(gateway, { limits: { '*': { requests_per_minute: 1 } } });
    const statuses = [];
    for (const one of [key, key, '', 'made-up', `${key.slice(0, -1)}!`]) {
      statuses.push((await ask(gateway.url, one)).status);
    }
    expect(statuses).toEqual([200, 429, 200, 200, 401]);
    const pretended = {
      method: 'POST',
      headers: { origin: 'http://evil.example' },
      body: JSON.stringify(question('hello')),
    };
    expect((await fetch(`${gateway.url}/v1/chat/completions`, pretended)).status).toBe(403);
    await gateway.foldUsage();
    const used = await gateway.store!.usage.query({ by: ['key'] });
    expect(used.map(({ key: id, requests }) => [id !== '', requests])).toEqual([
      [false, 2],
      [true, 1],
    ]);
  });

  test('are required, in either header; a wrong one gets 401, a model that is not allowed 403', async () => {
    const gateway = await gatewayOver([await fakeEngine()], withStore());
    const key = await newKey(gateway, { models: ['tiny'] });
    const other = await newKey(gateway, { models: ['another'] });
    expect((await ask(gateway.url, key)).status).toBe(200);
    const byHeader = { method: 'POST', headers: { 'x-api-key': key }, body: JSON.stringify(question('hello')) };
    expect((await fetch(`${gateway.url}/v1/chat/completions`, byHeader)).status).toBe(200);
    expect((await ask(gateway.url, `${key.slice(0, -1)}!`)).status).toBe(401);
    const refused = await ask(gateway.url, other);
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: 'forbidden' } }]);
    const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${other}` } });
    expect(await models.json()).toEqual({ object: 'list', data: [] });
    expectIdle(gateway);
  });

  test('that are revoked elsewhere are refused here within the time that is set', async () => {
    const config = withStore();
    const gateway = await gatewayOver([await fakeEngine()], { ...config, access: { ...config.access, refreshMs: 10 } });
    const key = await newKey(gateway);
    const elsewhere = await openStore(config.store!);
    afterwards(() => elsewhere.close());
    const [record] = await elsewhere.resources.list({ kind: 'ApiKey' });
    await elsewhere.keys.revoke(record!, 'admin');
    for (;;) {
      const response = await ask(gateway.url, key);
      await response.text();
      if (response.status === 401) break;
    }
  });
});

describe('limits', () => {
  test('hold against 50 clients at once, whatever is limited', async () => {
    const gateway = await gatewayOver([await fakeEngine(), await fakeEngine()], withStore());
    const storm = async (limits: object) => {
      const key = await newKey(gateway, { limits: { '*': limits } });
      const calls = Array.from({ length: 50 }, async () => {
        const counts: Record<number, number>[] = [];
        for (let i = 0; i < 4; i++) counts.push(await asked([ask(gateway.url, key)]));
        return counts;
      });
      const all = (await Promise.all(calls)).flat();
      return all.reduce((sum, counts) => sum + (counts[200] ?? 0), 0);
    };
    expect(await storm({ requests_per_minute: 60 })).toBe(60);
    // A request reserves its prompt of 14 tokens and 3 for the response, and uses as many or less.
    expect(await storm({ tokens_per_minute: 200 })).toBeLessThanOrEqual(Math.floor(200 / 4));
    const { metrics } = gateway;
    expect(metrics.outcomes.get('refused')).toBeGreaterThan(140);
    expectIdle(gateway);
  });

  test('of concurrent requests are free again when a client disconnects', async () => {
    const replica = await RawReplica.start();
    replica.response = () => {};
    const gateway = await gatewayOver([replica], withStore());
    const key = await newKey(gateway, { limits: { m: { concurrent: 1 } } });
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${key}` };
    const body = JSON.stringify({ model: 'm', prompt: 'x' });
    const held = fetch(`${gateway.url}/v1/completions`, { method: 'POST', headers, body, signal: leaving.signal });
    await until(() => replica.seen.length === 1);
    const second = await ask(gateway.url, key, { model: 'm', prompt: 'x' }, 'completions');
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1']);
    leaving.abort();
    await expect(held).rejects.toThrow();
    await until(() => gateway.inFlight === 0);
    replica.response = ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
    expect((await ask(gateway.url, key, { model: 'm', prompt: 'x' }, 'completions')).status).toBe(200);
  });
});

describeStores((stores) => {
  test('two gateway processes on one store admit exactly as many requests as the limit allows', async () => {
    const address = await stores.freshAddress();
    const store = await stores.open(address);
    const { secret: text } = await storedKey(store, 'app', { limits: { '*': { requests_per_minute: 40 } } });
    const engine = await fakeEngine();
    const args = ['--replica', engine.url, '--store', address];
    const [first, second] = await Promise.all([serveProcess(args), serveProcess(args)]);
    const calls = Array.from({ length: 120 }, (_, i) => ask(i % 2 === 0 ? first.url : second.url, text));
    expect(await asked(calls)).toEqual({ 200: 40, 429: 80 });
    for (const { child, ended } of [first, second]) {
      child.kill('SIGTERM');
      await ended;
    }
    const [usage] = await usageOf(store);
    expect(usage).toMatchObject({ requests: 40 });
    // Both have written what was left when they were stopped.
    const kept = await store.requests.list({ outcome: 'ok' }, null, 200);
    expect(new Set(kept.map(({ gateway, number }) => `${gateway} ${number}`)).size).toBe(40);
  });
});

describe('usage', () => {
  test("is the engines' own count, on every path, streamed or not", async () => {
    const engines = [await fakeEngine(), await fakeEngine()];
    const config = withStore();
    const gateway = await gatewayOver(engines, config);
    const key = await newKey(gateway);
    const random = randomStream(7, 'usage');
    const words = (n: number) => Array.from({ length: n }, () => `w${Math.floor(random.next() * 50)}`).join(' ');
    const calls: Promise<Response>[] = [];
    for (let i = 0; i < 200; i++) {
      const more = { max_tokens: 1 + Math.floor(random.next() * 20), ignore_eos: true, stream: i % 2 === 0 };
      const shown = i % 4 === 0 ? { ...more, stream_options: { include_usage: true } } : more;
      const text = words(1 + Math.floor(random.next() * 40));
      if (i % 10 === 8) calls.push(ask(gateway.url, key, { model: 'tiny', input: [text, words(3)] }, 'embeddings'));
      else if (i % 10 === 9) {
        calls.push(ask(gateway.url, key, { model: 'tiny', query: 'q', documents: [text, words(2)] }, 'rerank'));
      } else if (i % 3 === 0)
        calls.push(ask(gateway.url, key, { model: 'tiny', prompt: text, ...shown }, 'completions'));
      else calls.push(ask(gateway.url, key, question(text, shown)));
    }
    expect(await asked(calls)).toEqual({ 200: 200 });
    await gateway.close();
    const store = await openStore(config.store!);
    afterwards(() => store.close());
    const [usage] = await usageOf(store, ['outcome']);
    const total = async (name: string) => (await metric(engines[0]!, name)) + (await metric(engines[1]!, name));
    expect(usage).toMatchObject({
      requests: 200,
      estimatedRequests: 0,
      inputTokens: await total('vllm:prompt_tokens_total'),
      outputTokens: await total('vllm:generation_tokens_total'),
      cachedTokens: await total('vllm:prefix_cache_hits_total'),
    });
  });

  test('is counted where no keys are required, with its cost', async () => {
    const config = withStore();
    const gateway = await gatewayOver([await fakeEngine()], {
      ...config,
      access: { ...config.access, keys: 'off' },
      prices: [{ model: 'tiny', input: 1, cachedInput: 1, output: 10 }],
    });
    const response = await ask(gateway.url, 'whatever', question('hello', { max_tokens: 3, ignore_eos: true }));
    const { usage } = (await response.json()) as { usage: { prompt_tokens: number } };
    await gateway.foldUsage();
    const costNanos = usage.prompt_tokens * 1000 + 3 * 10_000;
    expect(await usageOf(gateway.store!)).toMatchObject([{ requests: 1, outputTokens: 3, costNanos }]);
  });

  test('of responses that broke off is metered up to there, with the cause', async () => {
    const replica = await RawReplica.start();
    const config = withStore();
    const gateway = await gatewayOver([replica], config);
    const key = await newKey(gateway);
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    const piece = (text: string) => chunk(`data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`);
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
    replica.response = ({ socket }) =>
      socket.end(`${head}${piece('a')}${piece('b')}${piece('c')}${chunk('data: {"c')}`);
    const body = { model: 'm', messages: [{ role: 'user', content: 'twelve bytes' }], stream: true };
    expect(await (await ask(gateway.url, key, body)).text()).toContain('"upstream_error"');
    replica.response = ({ socket }) => void socket.write(`${head}${piece('a')}`);
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${key}` };
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: leaving.signal };
    const left = await fetch(`${gateway.url}/v1/chat/completions`, init);
    const reader = left.body!.getReader();
    await reader.read();
    leaving.abort();
    await until(() => gateway.inFlight === 0);
    await gateway.close();
    const store = await openStore(config.store!);
    afterwards(() => store.close());
    const rows = await usageOf(store, ['outcome']);
    const shown = rows.map(({ outcome, requests, estimatedRequests, outputTokens }) => {
      return { outcome, requests, estimatedRequests, outputTokens };
    });
    expect(shown).toEqual([
      { outcome: 'the client left', requests: 1, estimatedRequests: 1, outputTokens: 1 },
      { outcome: 'the connection was cut', requests: 1, estimatedRequests: 1, outputTokens: 3 },
    ]);
    expect(rows.every(({ inputTokens }) => inputTokens > 0)).toBe(true);
  });

  test('that a client has received is not lost when the gateway is killed', async () => {
    const folder = join(root, String(folders++));
    const address = join(folder, 'keys.db');
    const engine = await fakeEngine();
    const store = await openStore(address);
    afterwards(() => store.close());
    const { secret: text } = await storedKey(store, 'app');
    let acknowledged = 0;
    for (let round = 0; round < 3; round++) {
      const { child, ended, url } = await serveProcess(['--replica', engine.url, '--store', address]);
      const wanted = acknowledged + 20 + 15 * round;
      const clients = Array.from({ length: 8 }, async (_, i) => {
        for (;;) {
          const body = question('hello', { max_tokens: 2, stream: i % 2 === 0 });
          const response = await ask(url, text, body)
            .then((given) => given.text())
            .catch(() => null);
          if (response === null) return;
          if (i % 2 === 1 || response.includes('[DONE]')) acknowledged++;
          if (acknowledged >= wanted) child.kill('SIGKILL');
        }
      });
      await Promise.all(clients);
      await ended;
    }
    const last = await serveProcess(['--replica', engine.url, '--store', address]);
    last.child.kill('SIGTERM');
    await last.ended;
    const [usage] = await usageOf(store);
    expect(usage!.requests).toBeGreaterThanOrEqual(acknowledged);
    // What the last of each round's clients did not get any more was counted all the same: no more than were under way.
    expect(usage!.requests).toBeLessThanOrEqual(acknowledged + 3 * 8);
    expect(usage!.outputTokens).toBe(2 * usage!.requests);
  });

  test('of streams under way is counted once when the gateway is killed, as is that of streams that had ended', async () => {
    const folder = join(root, String(folders++));
    const address = join(folder, 'keys.db');
    const replica = await RawReplica.start();
    replica.response = ({ socket }) => socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    const store = await openStore(address);
    afterwards(() => store.close());
    const { secret } = await storedKey(store, 'app');
    const args = ['--replica', replica.url, '--store', address, '--data-dir', folder];
    const { child, ended, url } = await serveProcess(args);
    const body = question('hello', { model: 'm', stream: true });
    const calls: Promise<Response>[] = [];
    for (let i = 0; i < 2; i++) {
      calls.push(ask(url, secret, body));
      await until(() => replica.seen.length === i + 1);
    }
    const token = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }] })}\n\n`;
    const send = (i: number, tokens: number, end = '') => replica.seen[i]!.socket.write(token.repeat(tokens) + end);
    const liveTokens = () => {
      const name = readdirSync(folder).find((one) => one.endsWith('.live'));
      const lines = name === undefined ? [] : readFileSync(join(folder, name), 'utf8').split('\n');
      return lines.flatMap((line) => (/^\d+ \d/.test(line) ? [Number(line.split(' ')[4])] : [])).sort();
    };
    send(0, 300);
    send(1, 50);
    const streams = (await Promise.all(calls)).map(({ body }) => body![Symbol.asyncIterator]());
    await until(() => String(liveTokens()) === '300,50');
    send(1, 5, 'data: [DONE]\n\n');
    let received = '';
    while (!received.includes('[DONE]')) received += new TextDecoder().decode((await streams[1]!.next()).value);
    child.kill('SIGKILL');
    await ended;
    const last = await serveProcess(args);
    last.child.kill('SIGTERM');
    await last.ended;
    const rows = await usageOf(store, ['outcome']);
    expect(rows.map(({ outcome, requests, outputTokens }) => [outcome, requests, outputTokens])).toEqual([
      ['ok', 1, 55],
      ['the gateway was killed', 1, 300],
    ]);
    expect(readdirSync(folder).filter((name) => name.startsWith('usage-'))).toEqual([]);
  });
});

test('no file, log, metric or response contains a key, a prompt or a header', async () => {
  const collector = await Collector.start();
  afterwards(() => collector.close());
  const config = withStore();
  const folder = join(config.dataDir, '..');
  const lines = { maxBytes: 1 << 20, files: 2 };
  const engine = await fakeEngine();
  const broken = await RawReplica.start();
  broken.response = ({ socket }) => socket.destroy();
  const gateway = await gatewayOver([engine, broken], {
    ...config,
    record: { path: join(folder, 'traffic.jsonl'), ...lines },
    accessLog: { path: join(folder, 'access.jsonl'), ...lines },
    decisionLog: join(root, 'decisions.jsonl'),
    tracing: { endpoint: collector.url, sample: 1 },
  });
  const faults: string[] = [];
  gateway.onFault = (error) => faults.push(String((error as Error).stack));
  const key = await newKey(gateway, { limits: { '*': { requests_per_minute: 5 } } });
  const told: string[] = [];
  for (let i = 0; i < 8; i++) {
    const body = { ...plantedBody(i === 7 ? 'nobody' : 'tiny'), stream: i % 2 === 0 };
    const init = { method: 'POST', headers: plantedHeaders(i === 6 ? undefined : key), body: JSON.stringify(body) };
    const response = await fetch(`${gateway.url}/v1/chat/completions`, init);
    told.push(JSON.stringify([...response.headers]), response.status === 200 ? '' : await response.text());
    if (response.status === 200) await response.text();
  }
  const pages: Record<string, string> = { responses: told.join('\n'), faults: faults.join('\n') };
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  for (const path of [
    '/metrics',
    '/api/v1/config',
    '/api/v1/decisions',
    '/api/v1/apikeys',
    '/api/v1/usage',
    '/api/v1/replicas',
  ]) {
    const response = await fetch(gateway.adminUrl + path, { headers });
    expect(response.status).toBe(200);
    pages[path] = await response.text();
  }
  await gateway.close();
  pages.spans = JSON.stringify(collector.requests);
  expect(pages.spans).toContain('gen_ai.request.model');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  expect(files.length).toBeGreaterThan(3);
  for (const { name, parentPath } of files) pages[name] = readFileSync(join(parentPath, name), 'latin1');
  // Decisions depend on the session of a request: their log, readable by its owner only, has the session's name.
  const decisions = { log: readFileSync(join(root, 'decisions.jsonl'), 'utf8'), api: pages['/api/v1/decisions']! };
  delete pages['/api/v1/decisions'];
  expectNowhere(decisions, key, ['session']);
  expectNowhere(pages, key);
});
