import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type FakeRequest, fakeServer, json } from '../fake-server.fixture.js';
import { serverTokenizer } from '../prompts/tokenizer.js';
import { scrapedSummary } from './metrics-scraper.js';
import { probeServer } from './probe-server.js';
import { ServerClient } from './server-client.js';

type Answers = Parameters<typeof fakeServer>[1];

const METRICS = `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 4 1700000000
vllm:cache_config_info{block_size="32",num_gpu_blocks="500",gpu_memory_utilization="0.85",x="a\\"b"} 1.0
nonsense
`;

async function withServer<T>(answers: Answers, ask: (client: ServerClient, url: string) => Promise<T>): Promise<T> {
  const server = await fakeServer(() => {}, answers);
  const client = new ServerClient({ url: `${server.url}/`, apiKey: 'k', headers: { 'x-team': 'search' } });
  try {
    return await ask(client, server.url);
  } finally {
    await client.close();
  }
}

const probed = (answers: Answers, model = 'tiny') =>
  withServer(answers, (client, url) => probeServer(client, url, model, 10_000));
const text = (body: string) => (_: FakeRequest, response: ServerResponse) => void response.end(body);

describe('probeServer', () => {
  it('reads the settings of vLLM', async () => {
    const model = { id: 'tiny', owned_by: 'vllm', root: 'acme/tiny-3b', max_model_len: 4096 };
    const server = await probed({
      '/v1/models': (_, response) => json(response, { data: [{ id: 'other' }, model] }),
      '/version': (_, response) => json(response, { version: '0.11.0' }),
      '/metrics': text(METRICS),
    });
    expect(server).toEqual({
      ...{ type: 'vllm', version: '0.11.0', model: 'acme/tiny-3b', maxModelLen: 4096 },
      ...{ blockSize: 32, totalKvBlocks: 500, gpuMemoryUtilization: 0.85 },
    });
  });

  it('reads the settings of llama.cpp', async () => {
    const model = { id: 'tiny', owned_by: 'llamacpp', meta: { n_ctx_train: 2048 } };
    const server = await probed({ '/v1/models': (_, response) => json(response, { data: [model] }) });
    expect(server).toEqual({ type: 'llamacpp', model: 'tiny', maxModelLen: 2048 });
  });

  it.each([
    ['no list of models', (_: FakeRequest, response: ServerResponse) => json(response, {}, 404)],
    ['a list that is none', text('[]')],
    ['an empty response', text('null')],
    ['a response that is not JSON', text('hello')],
    ['models that are none', (_: FakeRequest, response: ServerResponse) => json(response, { data: [null, 3] })],
  ])('continues with %s', async (_, answer) => {
    expect(await probed({ '/v1/models': answer })).toEqual({ model: 'tiny' });
  });

  it('sends key and headers, below a path, and knows /v1 at its end', async () => {
    let seen: FakeRequest | undefined;
    const server = await fakeServer(() => {}, {
      '/below/v1/models': (request, response) => {
        seen = request;
        json(response, { data: [{ id: 'tiny' }] });
      },
    });
    const client = new ServerClient({ url: `${server.url}/below/v1`, apiKey: 'k', headers: { 'x-team': 'search' } });
    await probeServer(client, server.url, 'tiny', 10_000);
    await client.close();
    expect(seen!.headers).toMatchObject({ authorization: 'Bearer k', 'x-team': 'search' });
  });
});

describe('serverTokenizer', () => {
  const counted = (answer: (request: FakeRequest, response: ServerResponse) => void) =>
    withServer({ '/tokenize': answer }, (client) =>
      serverTokenizer(client, 'completions', 'tiny', 10_000)([{ user: ' a b', response: null }]),
    );

  it('sends tokenizer requests that vLLM and llama.cpp accept', async () => {
    let asked = {};
    const tokens = await counted(({ body }, response) => {
      asked = body;
      json(response, { count: 3, tokens: [1, 2, 3] });
    });
    expect(asked).toEqual({ model: 'tiny', prompt: ' a b', content: ' a b', add_special: true });
    expect(tokens).toEqual({ count: 3, ids: [1, 2, 3] });
  });

  it('counts where only tokens are given, and takes a count alone', async () => {
    expect(await counted((_, response) => json(response, { tokens: [7, 8] }))).toEqual({ count: 2, ids: [7, 8] });
    expect(await counted((_, response) => json(response, { count: 5 }))).toEqual({ count: 5, ids: null });
  });

  it.each([{}, { tokens: [] }, { count: 'many' }])('has no use for %j', async (body) => {
    expect(await counted((_, response) => json(response, body))).toBeNull();
  });

  it('has no use for an error or for no JSON', async () => {
    expect(await counted((_, response) => json(response, {}, 404))).toBeNull();
    expect(await counted(text('null'))).toBeNull();
    expect(await counted(text('hello'))).toBeNull();
  });
});

describe('scrapedSummary', () => {
  it('returns the growth of counters, and the maximum of gauges', () => {
    const sample = (atUs: number, running: number, hits: number) => ({
      ...{ atUs, requests_running: running, prefix_cache_hits: hits },
      ...{ requests_waiting: Number.NaN, kv_cache_usage: 0.5, prefix_cache_queries: 10, preemptions: 0 },
      ...{ prompt_tokens: Number.NaN, generation_tokens: 0 },
    });
    expect(scrapedSummary([sample(0, 4, 10), sample(1, 9, 30), sample(2, 0, 35)])).toEqual({
      ...{ samples: 3, peak_requests_running: 9, peak_kv_cache_usage: 0.5 },
      ...{ prefix_cache_hits: 25, prefix_cache_queries: 0, preemptions: 0, generation_tokens: 0 },
    });
    expect(scrapedSummary([])).toEqual({});
  });
});
