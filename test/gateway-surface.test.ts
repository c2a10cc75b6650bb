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
