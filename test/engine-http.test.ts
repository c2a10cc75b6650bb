import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { JumpingClock, ManualClock } from '../src/emulator/virtual-clocks.fixture.js';
import { fakeConfig, fakeLatency } from '../src/replica/fake-replica.fixture.js';
import { fakeEngine, metric, post, question, reply, until } from './support/engine-fixture.js';

/** The data of a stream's events. */
async function eventsOf(response: Response): Promise<string[]> {
  const text = await response.text();
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));
}

describe('responses', () => {
  test('are the same for the same prompt and seed', async () => {
    const engine = await fakeEngine();
    const ask = async (content: string, more: object) => {
      const response = await post(engine, '/v1/chat/completions', question(content, { max_tokens: 20, ...more }));
      return (await reply(response)).choices[0]!.message.content;
    };
    const first = await ask('hello', {});
    expect(await ask('hello', {})).toBe(first);
    expect(await ask('hello', { seed: 7 })).not.toBe(first);
    expect(await ask('hallo', {})).not.toBe(first);
    const other = await fakeEngine({ seed: 1 });
    const response = await post(other, '/v1/chat/completions', question('hello', { max_tokens: 20 }));
    expect((await reply(response)).choices[0]!.message.content).not.toBe(first);
  });

  test('have the requested length', async () => {
    const engine = await fakeEngine({ meanOutputTokens: 5 });
    const ask = async (more: object) => reply(post(engine, '/v1/completions', { model: 'tiny', prompt: 'x', ...more }));
    expect((await ask({ max_tokens: 50, ignore_eos: true })).usage.completion_tokens).toBe(50);
    expect((await ask({ max_tokens: 50, min_tokens: 50 })).choices[0]!.finish_reason).toBe('length');
    expect((await ask({ max_tokens: 500 })).choices[0]!).toMatchObject({ finish_reason: 'stop', stop_reason: null });
    expect((await ask({ ignore_eos: true })).usage.completion_tokens).toBe(16);
    expect((await ask({ max_tokens: 0 })).usage.completion_tokens).toBe(1);
  });

  test('end before a stop string, streamed or not', async () => {
    const engine = await fakeEngine();
    const body = { model: 'tiny', prompt: 'x', max_tokens: 200, ignore_eos: true, stop: ['. '] };
    const plain = (await reply(post(engine, '/v1/completions', body))).choices[0]!;
    expect(plain).toMatchObject({ finish_reason: 'stop', stop_reason: '. ' });
    expect(plain.text).not.toContain('.');
    const events = await eventsOf(await post(engine, '/v1/completions', { ...body, stream: true }));
    expect(events.pop()).toBe('[DONE]');
    const chunks = events.map((event) => JSON.parse(event).choices[0]);
    expect(chunks.map(({ text }) => text).join('')).toBe(plain.text);
    expect(chunks.at(-1)).toMatchObject({ finish_reason: 'stop', stop_reason: '. ' });
  });

  test('echo the prompt first, if requested', async () => {
    const engine = await fakeEngine();
    const body = { model: 'tiny', prompt: 'Say "yes"\n', max_tokens: 4, echo: true };
    const { text } = (await reply(post(engine, '/v1/completions', body))).choices[0]!;
    expect(text.startsWith('Say "yes"\n')).toBe(true);
    expect(text).toHaveLength(10 + 16);
    const events = await eventsOf(await post(engine, '/v1/completions', { ...body, stream: true }));
    const streamed = events.slice(0, -1).map((event) => JSON.parse(event).choices[0].text);
    expect(streamed.join('')).toBe(text);
  });

  test('report usage while streaming', async () => {
    const engine = await fakeEngine();
    const options = { include_usage: true, continuous_usage_stats: true };
    const body = { model: 'tiny', prompt: 'abcd', max_tokens: 3, stream: true, stream_options: options };
    const events = (await eventsOf(await post(engine, '/v1/completions', body))).slice(0, -1);
    const usages = events.map((event) => JSON.parse(event).usage);
    expect(usages.map(({ completion_tokens }) => completion_tokens)).toEqual([1, 2, 3, 3]);
    expect(usages[0]).toMatchObject({ prompt_tokens: 1, total_tokens: 2 });
  });
});

describe('the cache', () => {
  const ask = async (engine: Awaited<ReturnType<typeof fakeEngine>>, messages: object[], more: object = {}) => {
    const response = await post(engine, '/v1/chat/completions', { model: 'tiny', messages, max_tokens: 30, ...more });
    const { choices, usage } = await reply(response);
    return { text: choices[0]!.message.content as string, usage };
  };

  test('is hit by prompts with the same prefix, and by the next turn of a session', async () => {
    const engine = await fakeEngine();
    const system = { role: 'system', content: 'You are a helpful assistant who answers at length. '.repeat(4) };
    const first = await ask(engine, [system, { role: 'user', content: 'one' }]);
    expect(first.usage.prompt_tokens_details.cached_tokens).toBe(0);
    const other = await ask(engine, [system, { role: 'user', content: 'two' }]);
    // Blocks of the fake replica have four tokens: all that lie in the common beginning.
    expect(other.usage.prompt_tokens_details.cached_tokens).toBe(Math.floor((19 + 204 + 11 + 17) / 16) * 4);
    const turn = [
      system,
      { role: 'user', content: 'one' },
      { role: 'assistant', content: first.text },
      { role: 'user', content: 'and then?' },
    ];
    const next = await ask(engine, turn);
    const known = first.usage.prompt_tokens + first.usage.completion_tokens - 1;
    expect(next.usage.prompt_tokens_details.cached_tokens).toBe(Math.floor(known / 4) * 4);
    expect(await metric(engine, 'vllm:prefix_cache_hits_total')).toBe(
      other.usage.prompt_tokens_details.cached_tokens + next.usage.prompt_tokens_details.cached_tokens,
    );
    expect(await metric(engine, 'vllm:prefix_cache_queries_total')).toBe(
      [first, other, next].reduce((sum, { usage }) => sum + usage.prompt_tokens, 0),
    );
  });

  test('is not shared between salts', async () => {
    const engine = await fakeEngine();
    const messages = [{ role: 'user', content: 'the same words again and again' }];
    await ask(engine, messages, { cache_salt: 'a' });
    expect((await ask(engine, messages, { cache_salt: 'b' })).usage.prompt_tokens_details.cached_tokens).toBe(0);
    expect(
      (await ask(engine, messages, { cache_salt: 'a' })).usage.prompt_tokens_details.cached_tokens,
    ).toBeGreaterThan(0);
  });
});

describe('requests that cannot be served', () => {
  const long = 'word '.repeat(4000);
  test.each<[string, string, unknown, number, RegExp]>([
    [
      'an unknown model',
      '/v1/chat/completions',
      question('x', { model: 'gpt-4' }),
      404,
      /The model `gpt-4` does not exist/,
    ],
    [
      'too long a prompt',
      '/v1/chat/completions',
      question(long),
      400,
      /maximum context length is 4000 tokens.*5\d+ input tokens/,
    ],
    ['too long an answer', '/v1/chat/completions', question('x', { max_tokens: 4000 }), 400, /is too large: 4000/],
    ['no JSON', '/v1/completions', '{"model"', 400, /not valid JSON/],
    ['no object', '/v1/completions', '[]', 400, /must be a JSON object/],
    ['no prompt', '/v1/completions', { model: 'tiny' }, 400, /'prompt' is required/],
    ['no messages', '/v1/chat/completions', { model: 'tiny', messages: [] }, 400, /must not be empty/],
    [
      'too many choices',
      '/v1/completions',
      { model: 'tiny', prompt: Array(20).fill('x'), n: 100 },
      400,
      /1024 choices/,
    ],
    ['an odd encoding', '/v1/embeddings', { model: 'tiny', input: 'x', encoding_format: 'y' }, 400, /float or base64/],
    ['an embedding of another model', '/v1/embeddings', { model: 'x', input: 'x' }, 404, /does not exist/],
    ['too long an input', '/v1/embeddings', { model: 'tiny', input: long }, 400, /maximum context length/],
    ['uneven texts', '/v1/score', { model: 'tiny', text_1: ['a', 'b'], text_2: 'c' }, 400, /as many as/],
    ['text for tokens', '/detokenize', { tokens: 'x' }, 400, /token ids/],
    ['a path that is not there', '/v1/images', {}, 404, /nothing at \/v1\/images/],
    ['the wrong method', '/v1/models', {}, 405, /POST is not for/],
  ])('%s', async (_, path, body, status, message) => {
    const engine = await fakeEngine();
    const response = await post(engine, path, body);
    expect(response.status).toBe(status);
    const { error } = await reply(response);
    expect(error).toMatchObject({ code: status, message: expect.stringMatching(message), type: expect.any(String) });
    expect(engine.stats()).toMatchObject({ running: 0, waiting: 0, usedBlocks: 0 });
  });

  test('a body that is too large, announced or not', async () => {
    const engine = await fakeEngine({ maxBodyBytes: 1000 });
    expect((await post(engine, '/v1/completions', 'x'.repeat(1001))).status).toBe(413);
    const status = await new Promise((resolve, reject) => {
      const sent = httpRequest(`${engine.url}/v1/completions`, { method: 'POST' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.write('x'.repeat(600));
      sent.end('x'.repeat(600));
    });
    expect(status).toBe(413);
  });

  test('more than the queue holds', async () => {
    const clock = new ManualClock();
    const engine = await fakeEngine({ clock, maxQueued: 2 });
    const body = { model: 'tiny', prompt: 'x', max_tokens: 2 };
    const waiting = [post(engine, '/v1/completions', body), post(engine, '/v1/completions', body)];
    await until(() => engine.stats().inFlight === 2);
    const refused = await post(engine, '/v1/completions', body);
    expect(refused.status).toBe(503);
    expect((await reply(refused)).error.type).toBe('ServiceUnavailableError');
    clock.runTo(1000);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('other paths', () => {
  test('tokens and back', async () => {
    const engine = await fakeEngine();
    for (const prompt of ['', 'a', 'Hello there, w\u00f6rld \u{1f600}']) {
      const { tokens, count, max_model_len } = await reply(post(engine, '/tokenize', { prompt }));
      expect([tokens.length, count, max_model_len]).toEqual([count, Math.ceil(Buffer.byteLength(prompt) / 4), 4000]);
      expect(await reply(post(engine, '/detokenize', { tokens }))).toEqual({ prompt });
    }
    const { count } = await reply(post(engine, '/tokenize', question('hello')));
    const answer = await reply(post(engine, '/v1/chat/completions', question('hello', { max_tokens: 1 })));
    expect(answer.usage.prompt_tokens).toBe(count);
  });

  test('token ids are a prompt', async () => {
    const engine = await fakeEngine();
    const ask = async (prompt: unknown) =>
      (await reply(post(engine, '/v1/completions', { model: 'tiny', prompt, max_tokens: 5 }))).choices[0]!.text;
    const { tokens } = await reply(post(engine, '/tokenize', { prompt: 'Hello there' }));
    expect(await ask(tokens)).toBe(await ask('Hello there'));
  });

  test('rerank', async () => {
    const engine = await fakeEngine();
    const documents = ['cold water', 'my red car', { text: 'a red house' }];
    const body = { model: 'tiny', query: 'red car', documents };
    const { results, usage } = await reply(post(engine, '/v1/rerank', body));
    expect(results.map(({ index }) => index)).toEqual([1, 2, 0]);
    expect(results[0]!.document.text).toBe('my red car');
    expect(usage.total_tokens).toBeGreaterThan(0);
    const top = await reply(post(engine, '/rerank', { ...body, top_n: 1 }));
    expect(top.results).toHaveLength(1);
    const none = await reply(post(engine, '/v1/rerank', { ...body, documents: [] }));
    expect(none.results).toEqual([]);
  });

  test('score', async () => {
    const engine = await fakeEngine();
    const one = await reply(post(engine, '/v1/score', { model: 'tiny', text_1: 'a b', text_2: ['a b', 'c'] }));
    expect(one.data.map(({ score }) => Math.round(score))).toEqual([1, expect.any(Number)]);
    const pairs = { model: 'tiny', text_1: ['a b', 'c'], text_2: ['a b', 'c'] };
    const two = await reply(post(engine, '/score', pairs));
    expect(two.data.every(({ score }) => score > 0.99)).toBe(true);
  });

  test('facts', async () => {
    const engine = await fakeEngine();
    for (const path of ['/health', '/ping']) expect((await fetch(engine.url + path)).status).toBe(200);
    expect(await reply(fetch(`${engine.url}/version`))).toEqual({ version: expect.any(String) });
    const { data } = await reply(fetch(`${engine.url}/v1/models?x=1`));
    expect(data).toMatchObject([{ id: 'tiny', max_model_len: 4000, object: 'model' }]);
  });

  test('the client\u2019s id and the load come back', async () => {
    const clock = new ManualClock();
    const engine = await fakeEngine({ clock, config: fakeConfig({ maxNumSeqs: 1 }) });
    const running = post(engine, '/v1/completions', { model: 'tiny', prompt: 'abcd'.repeat(40), max_tokens: 4 });
    await until(() => engine.stats().inFlight === 1);
    clock.runTo(110);
    const ask = (format: string) =>
      fetch(`${engine.url}/version`, { headers: { 'endpoint-load-metrics-format': format, 'x-request-id': 'mine' } });
    const text = await ask('TEXT');
    expect(text.headers.get('endpoint-load-metrics')).toBe(
      'TEXT named_metrics.kv_cache_usage_perc=0.1, named_metrics.num_requests_waiting=0',
    );
    expect(text.headers.get('x-request-id')).toBe('mine');
    expect((await ask('json')).headers.get('endpoint-load-metrics')).toBe(
      'JSON {"named_metrics":{"kv_cache_usage_perc":0.1,"num_requests_waiting":0}}',
    );
    expect((await ask('XML')).headers.has('endpoint-load-metrics')).toBe(false);
    clock.runTo(1e6);
    expect((await running).status).toBe(200);
    const named = await post(
      engine,
      '/v1/embeddings',
      { model: 'tiny', input: [] },
      { headers: { 'x-request-id': 'mine' } },
    );
    expect(named.headers.get('x-request-id')).toBe('mine');
  });
});

describe('clients', () => {
  test('that disconnect are dropped, streaming or not', async () => {
    const clock = new ManualClock();
    const engine = await fakeEngine({ clock, config: fakeConfig({ maxNumSeqs: 2 }) });
    const leaving = new AbortController();
    const body = { model: 'tiny', prompt: 'abcdefgh', max_tokens: 100 };
    const all = [true, false, true, false].map((stream) =>
      post(engine, '/v1/completions', { ...body, stream }, { signal: leaving.signal })
        .then((response) => response.text())
        .catch((error: Error) => error.name),
    );
    await until(() => engine.stats().inFlight === 4);
    clock.runTo(150);
    expect(engine.stats()).toMatchObject({ running: 2, waiting: 2 });
    leaving.abort();
    expect(await Promise.all(all)).toEqual(Array(4).fill('AbortError'));
    await until(() => engine.stats().inFlight === 0);
    expect(engine.stats()).toMatchObject({ running: 0, waiting: 0, usedBlocks: 0 });
    expect(await metric(engine, 'vllm:request_success_total', 'finished_reason="abort"')).toBe(4);
    expect(await metric(engine, 'vllm:kv_cache_usage_perc')).toBe(0);
    const after = post(engine, '/v1/completions', { ...body, max_tokens: 2 });
    await until(() => engine.stats().inFlight === 1);
    clock.runTo(10_000);
    expect((await after).status).toBe(200);
  });

  test('that do not read get everything later, and take no memory meanwhile', async () => {
    const engine = await fakeEngine({ config: fakeConfig({ totalKvBlocks: 20_000 }) });
    const body = { model: 'tiny', prompt: 'x', max_tokens: 60_000, ignore_eos: true, stream: true };
    const response = await post(engine, '/v1/completions', body);
    await until(() => engine.stats().running === 0 && engine.stats().tokensOut === 60_000);
    const events = await eventsOf(response);
    expect(events.pop()).toBe('[DONE]');
    const text = events.map((event) => JSON.parse(event).choices[0].text).join('');
    expect(text).toHaveLength(240_000);
    // What could not be sent at once was sent in larger pieces.
    expect(events.length).toBeLessThan(60_000);
  });

  test('a thousand at once', async () => {
    const engine = await fakeEngine({
      config: fakeConfig({ totalKvBlocks: 5000, maxNumSeqs: 256, maxNumBatchedTokens: 512 }),
    });
    const body = { model: 'tiny', prompt: 'hello', max_tokens: 8, ignore_eos: true, stream: true };
    const streams = Array.from({ length: 1000 }, async (_, seed) => {
      const events = await eventsOf(await post(engine, '/v1/completions', { ...body, seed }));
      return events.length;
    });
    expect(new Set(await Promise.all(streams))).toEqual(new Set([9]));
    await until(() => engine.stats().inFlight === 0);
    expect(engine.stats()).toMatchObject({ tokensOut: 8000, running: 0, usedBlocks: 0 });
  });
});

describe('metrics', () => {
  test('are Prometheus\u2019 text, and add up', async () => {
    const engine = await fakeEngine();
    for (const stream of [true, false]) {
      await (
        await post(engine, '/v1/chat/completions', question('x', { max_tokens: 5, ignore_eos: true, stream }))
      ).text();
    }
    await until(() => engine.stats().inFlight === 0);
    const response = await fetch(`${engine.url}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const lines = (await response.text()).trimEnd().split('\n');
    const sample = /^[a-z0-9_:]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.e+-]+$/;
    const types = new Map<string, string>();
    for (const line of lines) {
      const type = /^# TYPE (\S+) (gauge|counter|histogram)$/.exec(line);
      if (type !== null) types.set(type[1]!, type[2]!);
      else if (!line.startsWith('# HELP ')) expect(line).toMatch(sample);
    }
    for (const [name, type] of types) {
      const samples = lines.filter((line) => line.startsWith(`${name}_`) || line.startsWith(`${name}{`));
      expect(samples.length, name).toBeGreaterThan(0);
      expect(
        samples.every((line) => line.includes('model_name="tiny"') && line.includes('engine="0"')),
        name,
      ).toBe(true);
      if (type !== 'histogram') continue;
      const counts = samples.filter((line) => line.includes('_bucket')).map((line) => Number(line.split(' ')[1]));
      expect(counts, name).toEqual([...counts].sort((a, b) => a - b));
      expect(counts.at(-1), name).toBe(await metric(engine, `${name}_count`));
    }
    expect(await metric(engine, 'vllm:generation_tokens_total')).toBe(10);
    expect(await metric(engine, 'vllm:time_to_first_token_seconds_count')).toBe(2);
    expect(await metric(engine, 'vllm:inter_token_latency_seconds_count')).toBe(8);
    expect(await metric(engine, 'vllm:e2e_request_latency_seconds_count')).toBe(2);
    expect(await metric(engine, 'vllm:request_success_total', 'finished_reason="length"')).toBe(2);
    expect(await metric(engine, 'vllm:cache_config_info', 'block_size="4",num_gpu_blocks="1000"')).toBe(1);
  });

  test('have the model\u2019s times', async () => {
    const latency = fakeLatency({ queueingUs: 1_000_000, stepUs: () => 500_000, outputTokenUs: 0 });
    const engine = await fakeEngine({ latency, clock: new JumpingClock() });
    await (
      await post(engine, '/v1/completions', { model: 'tiny', prompt: 'x', max_tokens: 3, ignore_eos: true })
    ).text();
    expect(await metric(engine, 'vllm:time_to_first_token_seconds_sum')).toBe(1.5);
    expect(await metric(engine, 'vllm:inter_token_latency_seconds_sum')).toBe(1);
    expect(await metric(engine, 'vllm:request_queue_time_seconds_sum')).toBe(1);
    expect(await metric(engine, 'vllm:request_prefill_time_seconds_sum')).toBe(0.5);
    expect(await metric(engine, 'vllm:request_decode_time_seconds_sum')).toBe(1);
    expect(await metric(engine, 'vllm:e2e_request_latency_seconds_sum')).toBe(2.5);
  });

  test('show preemptions', async () => {
    const engine = await fakeEngine({ config: fakeConfig({ totalKvBlocks: 20, maxModelLen: 80 }) });
    const body = { model: 'tiny', prompt: 'x'.repeat(60), max_tokens: 50, ignore_eos: true };
    const answers = await Promise.all(
      ['a', 'b', 'c'].map(async (seed) => {
        const response = await post(engine, '/v1/completions', { ...body, prompt: seed + body.prompt, stream: true });
        return (await eventsOf(response)).length;
      }),
    );
    expect(answers).toEqual([51, 51, 51]);
    expect(await metric(engine, 'vllm:num_preemptions_total')).toBeGreaterThan(0);
    expect(await metric(engine, 'vllm:generation_tokens_total')).toBe(150);
  });
});
