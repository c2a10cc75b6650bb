import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { RunningEngine } from '../src/emulator/start-engine.js';
import { ManualClock } from '../src/emulator/virtual-clocks.fixture.js';
import { fakeEngine, until } from './support/engine-fixture.js';

/** The official client, with nothing changed but the address. */
function clientOf(engine: RunningEngine): OpenAI {
  return new OpenAI({ baseURL: `${engine.url}/v1`, apiKey: 'none', maxRetries: 0 });
}

const messages = [{ role: 'user' as const, content: 'Tell me something.' }];

describe('the official client', () => {
  test('gets a chat completion', async () => {
    const engine = await fakeEngine();
    const response = await clientOf(engine).chat.completions.create({ model: 'tiny', messages, max_tokens: 10 });
    expect(response.object).toBe('chat.completion');
    expect(response.choices).toHaveLength(1);
    expect(response.choices[0]!.message.role).toBe('assistant');
    expect(response.choices[0]!.message.content).toHaveLength(40);
    expect(response.choices[0]!.finish_reason).toBe('length');
    expect(response.usage).toMatchObject({ completion_tokens: 10, prompt_tokens_details: { cached_tokens: 0 } });
    expect(response.usage!.total_tokens).toBe(response.usage!.prompt_tokens + 10);
  });

  test('streams the same chat completion', async () => {
    const engine = await fakeEngine();
    const client = clientOf(engine);
    const request = { model: 'tiny', messages, max_tokens: 10, n: 2 };
    const whole = await client.chat.completions.create(request);
    const stream = await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    const texts = ['', ''];
    const finished: (string | null)[] = [null, null];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      for (const { index, delta, finish_reason } of chunk.choices) {
        texts[index] += delta.content ?? '';
        finished[index] ??= finish_reason;
      }
      usage = chunk.usage ?? usage;
    }
    expect(texts).toEqual(whole.choices.map(({ message }) => message.content));
    expect(finished).toEqual(whole.choices.map(({ finish_reason }) => finish_reason));
    expect(texts[0]).not.toBe(texts[1]);
    expect(usage).toMatchObject({ completion_tokens: 20 });
  });

  test('works with its stream helper', async () => {
    const engine = await fakeEngine();
    const runner = clientOf(engine).chat.completions.stream({ model: 'tiny', messages, max_completion_tokens: 5 });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]!.message.content).toHaveLength(20);
  });

  test('gets plain completions', async () => {
    const engine = await fakeEngine();
    const client = clientOf(engine);
    const response = await client.completions.create({ model: 'tiny', prompt: ['One', 'Two'], max_tokens: 6, n: 2 });
    expect(response.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(new Set(response.choices.map(({ text }) => text)).size).toBe(4);
    let text = '';
    for await (const chunk of await client.completions.create({
      model: 'tiny',
      prompt: 'One',
      max_tokens: 6,
      stream: true,
    })) {
      text += chunk.choices[0]?.text ?? '';
    }
    expect(text).toBe(response.choices[0]!.text);
  });

  test('gets embeddings', async () => {
    const engine = await fakeEngine();
    const client = clientOf(engine);
    const { data, usage } = await client.embeddings.create({ model: 'tiny', input: ['a red car', 'water'] });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([256, 256]);
    expect(usage).toMatchObject({ prompt_tokens: 5, total_tokens: 5 });
    const floats = await client.embeddings.create({
      model: 'tiny',
      input: 'a red car',
      encoding_format: 'float',
      dimensions: 8,
    });
    expect(floats.data[0]!.embedding).toHaveLength(8);
    const long = await client.embeddings.create({ model: 'tiny', input: 'a red car', encoding_format: 'float' });
    expect(long.data[0]!.embedding).toEqual(Array.from(data[0]!.embedding));
  });

  test('lists the model', async () => {
    const engine = await fakeEngine({ modelName: 'My/Model' });
    const models = await clientOf(engine).models.list();
    expect(models.data.map(({ id }) => id)).toEqual(['My/Model']);
  });

  test('maps errors to their classes', async () => {
    const engine = await fakeEngine();
    const client = clientOf(engine);
    await expect(client.chat.completions.create({ model: 'other', messages })).rejects.toThrow(OpenAI.NotFoundError);
    await expect(client.chat.completions.create({ model: 'tiny', messages, max_tokens: -1 })).rejects.toMatchObject({
      status: 400,
      param: 'max_tokens',
      type: 'BadRequestError',
    });
    engine.faults({ failRate: 1 });
    await expect(client.chat.completions.create({ model: 'tiny', messages })).rejects.toThrow(
      OpenAI.InternalServerError,
    );
  });

  test('can abort in the middle of a stream', async () => {
    const clock = new ManualClock();
    const engine = await fakeEngine({ clock });
    const request = { model: 'tiny', messages, max_tokens: 500, stream: true as const };
    const stream = await clientOf(engine).chat.completions.create(request);
    await until(() => engine.stats().inFlight === 1);
    clock.runTo(200);
    expect(engine.stats()).toMatchObject({ running: 1 });
    let chunks = 0;
    for await (const _ of stream) if (++chunks === 3) break;
    await until(() => engine.stats().inFlight === 0);
    expect(engine.stats()).toMatchObject({ running: 0, waiting: 0, usedBlocks: 0 });
  });
});
