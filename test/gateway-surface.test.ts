import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import type { RunningEngine } from '../src/emulator/start-engine.js';
import { GATEWAY_DEFAULTS, type GatewayConfig } from '../src/gateway/config/gateway-config.js';
import { configFor, FakeEngine, sendJson } from '../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { ResponseHolders } from '../src/gateway/proxy/response-holders.js';
import { newKey } from '../src/store/keys/new-key.fixture.js';
import type { UsageSum } from '../src/store/usage/usage-record.js';
import { fakeEngine } from './support/engine-fixture.js';
import {
  afterwards,
  expectIdle,
  gatewayOver,
  plain,
  postText,
  RawClient,
  RawReplica,
} from './support/gateway-fixture.js';

const root = mkdtempSync(join(tmpdir(), 'twinyard-surface-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;

/** The configuration of a gateway that requires keys, with its own store. */
function withStore(): Partial<GatewayConfig> {
  const folder = join(root, String(folders++));
  const access = { ...GATEWAY_DEFAULTS.access, keys: 'required' as const };
  return { store: join(folder, 'keys.db'), dataDir: join(folder, 'data'), access };
}

async function usageOf(gateway: Gateway): Promise<UsageSum> {
  await gateway.foldUsage();
  return (await gateway.store!.usage.query({ by: [] }))[0]!;
}

async function fake(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  afterwards(() => engine.kill());
  return engine;
}

function post(gateway: Gateway, path: string, body: object, init: RequestInit = {}): Promise<Response> {
  return fetch(gateway.url + path, { method: 'POST', body: JSON.stringify(body), ...init });
}

describe('routes', () => {
  test.each([
    ['/rerank', { model: 'tiny', query: 'a', documents: ['b', 'a'] }, 'results'],
    ['/v2/rerank', { model: 'm', query: 'a', documents: ['b', 'a'] }, 'path'],
    ['/score', { model: 'tiny', text_1: 'a', text_2: 'b' }, 'data'],
    ['/tokenize', { model: 'tiny', prompt: 'hello' }, 'tokens'],
    ['/detokenize', { model: 'tiny', tokens: [1] }, 'prompt'],
    ['/v1/messages/count_tokens', { model: 'tiny', messages: [{ role: 'user', content: 'a' }] }, 'input_tokens'],
    ['/pooling', { model: 'm', input: 'a' }, 'path'],
    ['/classify', { model: 'm', input: ['a', 'b'] }, 'path'],
    ['/v1/moderations', { model: 'm', input: [{ type: 'text', text: 'a' }] }, 'path'],
    ['/v1/images/generations', { model: 'm', prompt: 'a cat' }, 'path'],
    ['/v1/audio/speech', { model: 'm', input: 'hello', voice: 'x' }, 'path'],
  ])('%s is routed and decided like any other', async (path, body, field) => {
    const engine = await fake();
    engine.answer = ({ request, response }) => sendJson(response, 200, { path: request.url });
    const gateway = await gatewayOver([engine, await fakeEngine()]);
    const response = await post(gateway, path, body);
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([
      200,
      expect.arrayContaining([field]),
    ]);
    expect(response.headers.get('x-twinyard-decision')).toMatch(/^round-robin/);
    expectIdle(gateway);
  });

  test('a request that may name no model is for the only one there is', async () => {
    const engine = await fake();
    engine.answer = ({ body, response }) => sendJson(response, 200, JSON.parse(body));
    const one = await gatewayOver([engine]);
    expect(await (await post(one, '/v1/moderations', { input: 'a' })).json()).toEqual({ input: 'a' });
    expect((await post(one, '/v1/embeddings', { input: 'a' })).status).toBe(400);
    engine.models = ['m', 'n'];
    const two = await gatewayOver([engine]);
    const refused = await post(two, '/v1/moderations', { input: 'a' });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: 'model' } }]);
  });

  test('a target that is a whole URL is its path', async () => {
    const replica = await RawReplica.start();
    replica.response = ({ socket }) => void socket.write(plain('{"a":1}'));
    const gateway = await gatewayOver([replica]);
    const body = '{"model":"m","prompt":"hello"}';
    const client = new RawClient(gateway.url);
    expect(await client.send(postText(body, '', 'http://h/v1/completions?x=1')).until(/\{"a":1\}/)).toMatch(/ 200 /);
    expect(replica.seen[0]!.text).toMatch(/^POST \/v1\/completions\?x=1 HTTP/);
    const other = new RawClient(gateway.url);
    expect(await other.send(postText(body, '', 'http://other/v1/completions')).until(/different hosts/)).toMatch(
      / 400 /,
    );
  });
});

describe('stored responses', () => {
  const stored = (engine: FakeEngine, id: string) => {
    engine.answer = ({ request, response }) => {
      const isStream = request.headers.accept === 'text/event-stream';
      const body = { id, object: 'response', usage: { input_tokens: 5, output_tokens: 2 } };
      if (!isStream) sendJson(response, 200, { ...body, method: request.method, path: request.url });
      else {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify({ type: 'response.created', response: body })}\n\n`);
      }
    };
  };

  test('are found on the replica that has them, and continued there', async () => {
    const engines = [await fake(), await fake(), await fake()];
    for (const [i, engine] of engines.entries()) stored(engine, `resp_${i}`);
    const gateway = await gatewayOver(engines);
    const accept = { headers: { accept: 'text/event-stream' } };
    for (let i = 0; i < 3; i++) await (await post(gateway, '/v1/responses', { model: 'm', input: 'a' }, accept)).text();
    for (const id of ['resp_2', 'resp_0', 'resp_1', 'resp_1']) {
      for (const [method, path] of [
        ['GET', `/v1/responses/${id}`],
        ['GET', `/v1/responses/${id}/input_items?limit=1`],
        ['POST', `/v1/responses/${id}/cancel`],
        ['DELETE', `/workspace/default/endpoint/default/v1/responses/${id}`],
      ] as const) {
        const found = await (await fetch(gateway.url + path, { method })).json();
        expect(found).toMatchObject({ id, method, path: path.replace(/^\/workspace.*default(?=\/v1)/, '') });
      }
      const next = await post(gateway, '/v1/responses', { model: 'm', input: 'b', previous_response_id: id });
      expect(await next.json()).toMatchObject({ id });
    }
    const missing = await fetch(`${gateway.url}/v1/responses/resp_9`);
    expect([missing.status, await missing.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
    await engines[1]!.kill();
    expect((await fetch(`${gateway.url}/v1/responses/resp_1`)).status).toBe(502);
    expectIdle(gateway);
  });

  test('belong to the key that created them, and count once', async () => {
    const engine = await fake();
    stored(engine, 'resp_0');
    const gateway = await gatewayOver([engine], withStore());
    const [one, other] = [await newKey(gateway.store!, 'one'), await newKey(gateway.store!, 'other')];
    const as = ({ secret }: { secret: string }) => ({ headers: { authorization: `Bearer ${secret}` } });
    expect((await post(gateway, '/v1/responses', { model: 'm', input: 'a' }, as(one))).status).toBe(200);
    expect((await fetch(`${gateway.url}/v1/responses/resp_0`, as(one))).status).toBe(200);
    expect((await fetch(`${gateway.url}/v1/responses/resp_0`, as(other))).status).toBe(404);
    const body = { model: 'm', input: 'b', previous_response_id: 'resp_0' };
    expect((await post(gateway, '/v1/responses', body, as(other))).status).toBe(404);
    expect(await usageOf(gateway)).toMatchObject({ requests: 2, inputTokens: 5, outputTokens: 2 });
  });

  test('of which only the newest are remembered', () => {
    const holders = new ResponseHolders();
    const held = { keyId: '', model: 'm', endpoint: 'e', replicaId: 'r' };
    const request = { ...held, endpoint: { name: 'e' }, status: 200 };
    for (let i = 0; i < 20_000; i++) holders.learn(Buffer.from(`{"id": "resp_${i}"`), request);
    expect([holders.size, holders.find('resp_0'), holders.find('resp_19999')]).toEqual([16_384, undefined, held]);
    holders.learn(Buffer.from('{"previous_response_id":"resp_1"}'), request);
    holders.learn(Buffer.from('{"id":"resp_2"}'), { ...request, status: 400 });
    expect([holders.find('resp_1'), holders.find('resp_2')]).toEqual([undefined, undefined]);
  });
});

describe('unknown paths', () => {
  test('are refused, or passed on by setting', async () => {
    const engine = await fake();
    engine.answer = ({ body, request, response }) => sendJson(response, 200, [request.method, request.url, body]);
    const refusing = await gatewayOver([engine]);
    expect((await post(refusing, '/v1/new/thing', { model: 'm' })).status).toBe(404);
    const gateway = await gatewayOver([engine], { http: { ...GATEWAY_DEFAULTS.http, unknownPaths: 'pass' } });
    const passed = await post(gateway, '/v1/new/thing?a=1', { model: 'm', x: 1 });
    expect(await passed.json()).toEqual(['POST', '/v1/new/thing?a=1', '{"model":"m","x":1}']);
    const read = await fetch(`${gateway.url}/v1/new/thing`);
    expect([read.headers.get('x-twinyard-replica'), await read.json()]).toEqual(['r0', ['GET', '/v1/new/thing', '']]);
    expect((await post(gateway, '/v1/new/thing', { model: 'other' })).status).toBe(404);
    for (const path of ['/v1/%63ompletions', '/v1/new%2fthing', '/v1/responses/x', '/v2/new', '/metrics', '/v1//x']) {
      expect([path, (await fetch(gateway.url + path)).status]).toEqual([path, 404]);
    }
    expectIdle(gateway);
  });
});

describe('models', () => {
  test('are described as their replicas describe them, with the least context length', async () => {
    const [one, two] = [await fake(), await fake()];
    const card = { id: 'org/m', object: 'model', created: 5, owned_by: 'vllm', root: '/models/m', max_model_len: 8192 };
    one.pages.set('/v1/models', { status: 200, text: JSON.stringify({ data: [card] }) });
    two.pages.set('/v1/models', { status: 200, text: JSON.stringify({ data: [{ ...card, max_model_len: 4096 }] }) });
    const gateway = await gatewayOver([one, two]);
    const expected = { ...card, max_model_len: 4096 };
    expect(await (await fetch(`${gateway.url}/v1/models`)).json()).toEqual({ object: 'list', data: [expected] });
    for (const name of ['org/m', 'org%2Fm']) {
      expect(await (await fetch(`${gateway.url}/v1/models/${name}`)).json()).toEqual(expected);
    }
    const missing = await fetch(`${gateway.url}/v1/models/other`);
    expect([missing.status, await missing.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }]);
  });

  test('that are configured are described as well, if the replica does so', async () => {
    const engine = await fakeEngine();
    const endpoints = configFor([engine]).endpoints.map((endpoint) => ({
      ...endpoint,
      replicas: endpoint.replicas.map((replica) => ({ ...replica, models: ['tiny'] })),
    }));
    const gateway = await gatewayOver([], { endpoints });
    const card = (await (await fetch(`${gateway.url}/v1/models/tiny`)).json()) as { max_model_len: number };
    expect(card.max_model_len).toBeGreaterThan(0);
  });
});

const HELLO = [{ role: 'user' as const, content: 'Tell me something.' }];

describe("Anthropic's client", () => {
  const clientOf = (gateway: Gateway) => new Anthropic({ baseURL: gateway.url, apiKey: 'none', maxRetries: 0 });

  test('gets a message, and the same as a stream', async () => {
    const gateway = await gatewayOver([await fakeEngine()]);
    const client = clientOf(gateway);
    const request = { model: 'tiny', max_tokens: 10, system: 'Be brief.', messages: HELLO };
    const whole = await client.messages.create(request);
    expect(whole).toMatchObject({ role: 'assistant', stop_reason: 'max_tokens', usage: { output_tokens: 10 } });
    const streamed = await client.messages.stream(request).finalMessage();
    expect(streamed.content).toMatchObject(whole.content);
    expect(streamed.usage.output_tokens).toBe(10);
    expect((await client.messages.countTokens({ model: 'tiny', messages: HELLO })).input_tokens).toBeGreaterThan(4);
    expectIdle(gateway);
  });

  test('gets errors of the gateway in its own shape', async () => {
    const gateway = await gatewayOver([await fakeEngine()]);
    const request = { model: 'missing', max_tokens: 10, messages: HELLO };
    const error = await clientOf(gateway)
      .messages.create(request)
      .catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(Anthropic.NotFoundError);
    expect((error as InstanceType<typeof Anthropic.NotFoundError>).error).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error', message: expect.stringContaining("'missing'") },
      request_id: expect.any(String),
    });
    const refused = await fetch(`${gateway.url}/v1/messages`);
    expect([refused.status, await refused.json()]).toMatchObject([405, { error: { type: 'invalid_request_error' } }]);
  });

  test('gets an error event when a stream breaks', async () => {
    const replica = await RawReplica.start();
    const event = 'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\n';
    replica.response = ({ socket }) => {
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 999\r\n\r\n';
      socket.end(head + event);
    };
    const gateway = await gatewayOver([replica]);
    const stream = clientOf(gateway).messages.stream({ model: 'm', max_tokens: 10, messages: HELLO });
    await expect(stream.finalMessage()).rejects.toThrowError(/api_error/);
  });
});

describe("OpenAI's client", () => {
  const clientOf = (engine: Gateway | RunningEngine) =>
    new OpenAI({ baseURL: `${engine.url}/v1`, apiKey: 'none', maxRetries: 0 });

  test('lists models and gets one of them', async () => {
    const client = clientOf(await gatewayOver([await fakeEngine()]));
    const { data } = await client.models.list();
    expect(data).toMatchObject([{ id: 'tiny', owned_by: 'vllm', max_model_len: expect.any(Number) }]);
    expect(await client.models.retrieve('tiny')).toEqual(data[0]);
    await expect(client.models.retrieve('other')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('gets completions, whole and as a stream, and embeddings', async () => {
    const gateway = await gatewayOver([await fakeEngine()]);
    const client = clientOf(gateway);
    const request = { model: 'tiny', messages: HELLO, max_tokens: 5 };
    const whole = await client.chat.completions.create(request);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]!.message.content).toBe(whole.choices[0]!.message.content);
    expect((await client.embeddings.create({ model: 'tiny', input: 'a' })).data[0]!.embedding).toHaveLength(256);
    expectIdle(gateway);
  });

  test('gets speech, byte for byte', async () => {
    const engine = await fake();
    const audio = Buffer.from([0xff, 0xfb, 0x7b, 0x22, 0x00, 0x0a]);
    engine.answer = ({ response }) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(audio);
    const gateway = await gatewayOver([engine], withStore());
    const { secret } = await newKey(gateway.store!, 'voice', { models: ['m'] });
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
    const speech = await client.audio.speech.create({ model: 'm', input: 'Hällo. 😀', voice: 'alloy' });
    expect(Buffer.from(await speech.arrayBuffer())).toEqual(audio);
    expect(await usageOf(gateway)).toMatchObject({ requests: 1, characters: 8, audioSeconds: 0, inputTokens: 3 });
  });

  test('gets transcriptions and translations, counted in seconds; the model of the form is checked', async () => {
    const engine = await fake();
    engine.answer = ({ response }) =>
      sendJson(response, 200, { text: 'Hello.', usage: { type: 'duration', seconds: 7.2 } });
    const gateway = await gatewayOver([engine], withStore());
    const { secret } = await newKey(gateway.store!, 'ears', { models: ['m'] });
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
    const file = new File([new Uint8Array(160_000)], 'a.mp3');
    expect((await client.audio.transcriptions.create({ model: 'm', file })).text).toBe('Hello.');
    expect(engine.seen[0]!.request.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(await usageOf(gateway)).toMatchObject({ audioSeconds: 8, inputTokens: 0, estimatedRequests: 0 });
    engine.answer = ({ response }) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('Hello.\n');
    await client.audio.translations.create({ model: 'm', file, response_format: 'text' });
    expect(await usageOf(gateway)).toMatchObject({
      requests: 2,
      audioSeconds: 18,
      outputTokens: 0,
      estimatedRequests: 1,
    });
    const refused = client.audio.transcriptions.create({ model: 'other', file });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(engine.seen).toHaveLength(2);
    expectIdle(gateway);
  });
});
