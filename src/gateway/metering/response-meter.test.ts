import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readUsage } from '../../protocol/read-usage.fixture.js';
import type { ResponseForm } from './response-form.js';
import { MeterPool, ResponseMeter } from './response-meter.js';

/** The result of a meter for a response in pieces, each in a buffer that is overwritten after its output was copied. */
function metered(
  pieces: readonly Buffer[],
  form: ResponseForm,
  { strips = false, isWhole = true, reused = new ResponseMeter() } = {},
) {
  reused.begin(form, strips);
  const passed: string[] = [];
  let settledAt = -1;
  for (const [i, piece] of pieces.entries()) {
    const bytes = Buffer.from(piece);
    const going = reused.piece(bytes);
    if (!strips) expect(going).toBe(bytes);
    passed.push(going.toString('latin1'));
    if (reused.isSettled && settledAt < 0) settledAt = i;
    bytes.fill(0x58);
  }
  const { isInsideEvent } = reused;
  if (isWhole) passed.push(reused.rest().toString('latin1'));
  reused.finish(isWhole, 1000, 500);
  const { cachedTokens, ending, inputTokens, isMetered, outputEvents, outputTokens, reasoningTokens } = reused;
  const tokens = { inputTokens, cachedTokens, outputTokens, reasoningTokens };
  return { passed, text: passed.join(''), settledAt, isInsideEvent, ending, isMetered, outputEvents, tokens };
}

const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const event = (data: unknown, end = '\n') =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}${end}${end}`;
const delta = (content: string) => ({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const USAGE = {
  prompt_tokens: 12,
  completion_tokens: 3,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const usageChunk = { id: 'c', choices: [], usage: USAGE };
const SAID = { inputTokens: 12, cachedTokens: 8, outputTokens: 3, reasoningTokens: 2 };
const none = { cachedTokens: 0, reasoningTokens: 0 };
const whole = (text: string) => [Buffer.from(text)];
const stream = (...events: unknown[]) => whole(events.map((one) => event(one)).join(''));

describe('a stream', () => {
  test('with usage', () => {
    const pieces = [delta('a'), delta('b'), delta('c'), usageChunk, '[DONE]'].map((one) => Buffer.from(event(one)));
    expect(metered(pieces, 'events')).toMatchObject({
      tokens: SAID,
      isMetered: true,
      outputEvents: 3,
      ending: 'complete',
      settledAt: 3,
    });
  });

  test('without usage is counted, and its input estimated', () => {
    const pieces = stream(
      { choices: [{ delta: { role: 'assistant', content: '' } }] },
      delta('a'),
      delta('b'),
      '[DONE]',
    );
    expect(metered(pieces, 'events')).toMatchObject({
      tokens: { ...none, inputTokens: 1000, outputTokens: 2 },
      isMetered: false,
      ending: 'complete',
      settledAt: 0,
    });
  });

  test('with usage in every chunk is not settled before its end', () => {
    const running = (completion_tokens: number) => ({ ...delta('x'), usage: { ...USAGE, completion_tokens } });
    const pieces = [running(1), running(2), '[DONE]'].map((one) => Buffer.from(event(one)));
    const twoTokens = { ...SAID, outputTokens: 2 };
    expect(metered(pieces, 'events')).toMatchObject({ tokens: twoTokens, isMetered: true, settledAt: 2 });
    const broken = metered(pieces.slice(0, 2), 'events', { isWhole: false });
    expect(broken).toMatchObject({ tokens: twoTokens, isMetered: false, ending: 'cut', settledAt: -1 });
    expect(metered(pieces.slice(0, 2), 'events')).toMatchObject({ tokens: twoTokens, isMetered: true, ending: 'cut' });
  });

  test('that breaks off is metered up to there', () => {
    expect(metered(stream(delta('a'), delta('b'), delta('c')), 'events', { isWhole: false })).toMatchObject({
      tokens: { ...none, inputTokens: 1000, outputTokens: 3 },
      isMetered: false,
      ending: 'cut',
    });
  });

  test('of responses', () => {
    const usage = { input_tokens: 5, output_tokens: 2, output_tokens_details: { reasoning_tokens: 1 } };
    const events = [
      { type: 'response.created', response: { usage: null } },
      { type: 'response.output_text.delta', delta: 'a' },
      { type: 'response.output_text.delta', delta: 'b' },
      { type: 'response.completed', response: { usage } },
    ];
    const tokens = { inputTokens: 5, cachedTokens: 0, outputTokens: 2, reasoningTokens: 1 };
    const pieces = events.map((one) => Buffer.from(`event: ${one.type}\n${event(one)}`));
    expect(metered(pieces, 'events')).toMatchObject({ tokens, isMetered: true, ending: 'complete', settledAt: 3 });
    expect(metered(pieces.slice(0, 3), 'events', { isWhole: false })).toMatchObject({
      outputEvents: 2,
      isMetered: false,
    });
  });

  test('of messages, which report the input first and the output last', () => {
    const events = [
      { type: 'message_start', message: { usage: { input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 1 } } },
      { type: 'content_block_delta', delta: { text: 'a' } },
      { type: 'content_block_delta', delta: { text: 'b' } },
      { type: 'message_delta', usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    ];
    const pieces = events.map((one) => Buffer.from(event(one)));
    const tokens = { inputTokens: 8, cachedTokens: 3, outputTokens: 7, reasoningTokens: 0 };
    expect(metered(pieces, 'events')).toMatchObject({ tokens, isMetered: true, ending: 'complete', settledAt: 4 });
    expect(metered(pieces.slice(0, 3), 'events', { isWhole: false })).toMatchObject({
      tokens: { ...tokens, outputTokens: 2 },
      isMetered: false,
    });
  });

  test.each([
    [{ error: { message: 'out of memory' } }],
    [{ type: 'response.failed', response: { usage: null } }],
    [{ type: 'error', message: 'x' }],
  ])('that fails: %j', (failure) => {
    const pieces = [Buffer.from(event(delta('a'))), Buffer.from(event(failure))];
    expect(metered(pieces, 'events')).toMatchObject({
      ending: 'failed',
      settledAt: 1,
      outputEvents: 1,
      isMetered: false,
    });
  });
});

describe('a response without streaming', () => {
  const answer = JSON.stringify({ choices: [{ message: { content: 'x' } }], usage: USAGE, timings: { cache_n: 1 } });

  test('reports its usage, and is settled at its end', () => {
    const pieces = [Buffer.from(answer.slice(0, -1)), Buffer.from('}'), Buffer.from('\n')];
    expect(metered(pieces, 'json')).toMatchObject({ tokens: SAID, isMetered: true, ending: 'complete', settledAt: 1 });
  });

  test('cut after its usage is metered', () => {
    const cut = whole(answer.slice(0, -3));
    expect(metered(cut, 'json', { isWhole: false })).toMatchObject({ tokens: SAID, isMetered: true, ending: 'cut' });
  });

  test.each<[string, ResponseForm, string, boolean, object]>([
    ['whole, without usage', 'json', '{"data":[]}', true, { outputTokens: 500, ending: 'complete' }],
    ['cut', 'json', '{"data":[', false, { outputTokens: 0, ending: 'cut' }],
    ['an error', 'json', '{"error":{}}', true, { outputTokens: 500, ending: 'failed' }],
    ['encoded', 'opaque', answer, true, { outputTokens: 500, ending: 'complete' }],
    ['encoded and cut', 'opaque', answer, false, { outputTokens: 0, ending: 'cut' }],
  ])(
    '%s is estimated',
    (_, form, text, isWhole, { outputTokens, ending }: { outputTokens?: number; ending?: string }) => {
      expect(metered(whole(text), form, { isWhole })).toMatchObject({
        tokens: { ...none, inputTokens: 1000, outputTokens },
        ending,
        isMetered: false,
      });
    },
  );

  test.each([
    [{ usage: { prompt_tokens: 7, total_tokens: 7 } }, 7],
    [{ results: [], usage: { total_tokens: 9 } }, 9],
  ])('without output: %j', (body, inputTokens) => {
    const tokens = { ...none, inputTokens, outputTokens: 0 };
    expect(metered(whole(JSON.stringify(body)), 'json')).toMatchObject({ tokens, isMetered: true });
  });

  test('has no more cached tokens than tokens', () => {
    const body = { usage: { prompt_tokens: 7 }, timings: { cache_n: 9 } };
    expect(metered(whole(JSON.stringify(body)), 'json').tokens.cachedTokens).toBe(7);
  });
});

describe('a usage chunk that the client did not request', () => {
  const bodies = [delta('a'), { ...delta('b'), usage: null }, usageChunk, delta('"\u00fc'), { choices: [] }, '[DONE]'];

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('is cut out of a stream with %s, wherever that is cut', (_, end) => {
    const ping = `: ping${end}${end}`;
    const all = bodies.map((one) => ping + event(one, end));
    const bytes = Buffer.from(all.join(''));
    const expected = latin1(all.map((text, i) => (i === 2 ? ping : text)).join(''));
    const reused = new ResponseMeter();
    for (let one = 0; one <= bytes.length; one++) {
      const two = Math.min(bytes.length, one + 40);
      const pieces = [bytes.subarray(0, one), bytes.subarray(one, two), bytes.subarray(two)];
      const ended = metered(pieces, 'events', { strips: true, reused });
      expect(ended.text, `cut at ${one}`).toBe(expected);
      expect(ended).toMatchObject({ tokens: SAID, outputEvents: 3, isMetered: true, ending: 'complete' });
    }
    const single = [...bytes].map((byte) => Buffer.of(byte));
    expect(metered(single, 'events', { strips: true, reused }).text).toBe(expected);
  });

  test('stays when the client requested it', () => {
    const bytes = Buffer.from(bodies.map((one) => event(one)).join(''));
    expect(metered([bytes], 'events').text).toBe(bytes.toString('latin1'));
  });

  test('is removed even if it is empty, and so are several', () => {
    const odd = event({ choices: [], usage: {} });
    const text = event(delta('a')) + odd + event(usageChunk) + event(delta('b')) + odd;
    expect(metered(whole(text), 'events', { strips: true }).passed).toEqual([
      event(delta('a')) + event(delta('b')),
      '',
    ]);
  });

  test('is the only part removed: other events pass at once, and only an incomplete one is held', () => {
    const [a, b, c] = [event(delta('a')), event(delta('b')), event(delta('c'))];
    const pieces = [a, b + c.slice(0, 9), c.slice(9, 20), c.slice(20) + event(usageChunk), event('[DONE]')];
    const { isInsideEvent, passed } = metered(
      pieces.map((text) => Buffer.from(text)),
      'events',
      { strips: true },
    );
    expect(passed).toEqual([a, b, '', c, event('[DONE]'), '']);
    expect(isInsideEvent).toBe(false);
  });

  test('pieces that need no change are not copied', () => {
    const meter = new ResponseMeter();
    meter.begin('events', true);
    const piece = Buffer.from(event(delta('a')));
    expect(meter.piece(piece)).toBe(piece);
  });

  test('trailing bytes that are not an event are passed on, unless the stream broke off', () => {
    const tail = whole(`${event(delta('a'))}data: half`);
    expect(metered(tail, 'events', { strips: true }).passed).toEqual([event(delta('a')), 'data: half']);
    const broken = metered(tail, 'events', { strips: true, isWhole: false });
    expect(broken).toMatchObject({ text: event(delta('a')), isInsideEvent: false });
    expect(metered(tail, 'events', { isWhole: false }).isInsideEvent).toBe(true);
  });

  test.each<ResponseForm>(['events', 'json', 'opaque'])(
    'what was held back of one answer is no part of the next: %s',
    (form) => {
      const reused = new ResponseMeter();
      metered(whole(`${event(usageChunk, '\r\n').slice(0, -1)}`), 'events', { strips: true, isWhole: false, reused });
      metered(whole('data: secret'), 'events', { strips: true, isWhole: false, reused });
      reused.begin(form, false);
      expect([reused.rest().length, reused.isInsideEvent]).toEqual([0, false]);
      expect(metered(whole('\n{}'), form, { reused }).text).toBe('\n{}');
    },
  );

  test('a long event is not held, and one whose beginning was sent stays', () => {
    const long = event({ ...usageChunk, id: 'x'.repeat(200_000) });
    const bytes = Buffer.from(long + event(usageChunk) + event('[DONE]'));
    const pieces = [
      bytes.subarray(0, 10),
      bytes.subarray(10, 100_000),
      bytes.subarray(100_000, 100_010),
      bytes.subarray(100_010),
    ];
    const { passed } = metered(pieces, 'events', { strips: true });
    expect(passed.map((text) => text.length)).toEqual([
      0,
      100_000,
      10,
      long.length - 100_010 + event('[DONE]').length,
      0,
    ]);
    expect(passed.join('')).toBe(long + event('[DONE]'));
  });
});

describe('any response, however it is cut', () => {
  const count = fc.oneof(fc.nat(100_000), fc.constantFrom(null, '3', -1, 1.5));
  const details = fc.oneof(
    fc.record({ cached_tokens: count, reasoning_tokens: count }, { requiredKeys: [] }),
    fc.constant(null),
  );
  const usage = fc.oneof(
    fc.record(
      {
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        input_tokens: count,
        output_tokens: count,
        prompt_tokens_details: details,
        completion_tokens_details: details,
        cache_read_input_tokens: count,
      },
      { requiredKeys: [] },
    ),
    fc.constant(null),
  );
  const text = fc.string({ maxLength: 8, unit: fc.constantFrom('a', '"', '\\', '{', '\u00fc', '\n', '[') });
  const choice = fc.record({
    index: fc.nat(1),
    delta: fc.record({ role: text, content: fc.option(text), reasoning: text }, { requiredKeys: [] }),
  });
  const choices = fc.oneof({ weight: 5, arbitrary: fc.array(choice, { maxLength: 2 }) }, fc.constant([]));
  const chunk = fc.oneof(
    { weight: 4, arbitrary: text.map((content) => delta(content) as object) },
    { weight: 4, arbitrary: fc.record({ choices, usage }, { requiredKeys: ['choices'] }) },
    { weight: 1, arbitrary: fc.record({ choices: fc.constant([]), usage }) },
  );
  const cutAt = (bytes: Buffer, cuts: readonly number[]) => {
    const places = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b);
    return [...places, bytes.length].map((to, i) => bytes.subarray(i === 0 ? 0 : places[i - 1], to));
  };
  const cuts = fc.array(fc.nat(2000), { maxLength: 8 });
  interface Chunk {
    choices: { delta: Record<string, string | null>; text?: string }[];
    usage?: object | null;
  }
  const outputsOf = ({ choices: all }: Chunk) =>
    all.filter(({ delta: one }) => Object.entries(one).some(([name, value]) => name !== 'role' && (value ?? '') !== ''))
      .length;
  const reused = new ResponseMeter();

  test('streams', () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), cuts, (chunks, end, at) => {
        const all = chunks as Chunk[];
        const bytes = Buffer.from([...all, '[DONE]'].map((one) => event(one, end)).join(''));
        const isExtra = (one: Chunk) => one.choices.length === 0 && typeof one.usage === 'object' && one.usage !== null;
        const rest = [...all.filter((one) => !isExtra(one)), '[DONE]'].map((one) => event(one, end)).join('');
        const pieces = cutAt(bytes, at);
        const ended = metered(pieces, 'events', { strips: true, reused });
        const untouched = metered(pieces, 'events', { reused });
        expect(ended.text).toBe(latin1(rest));
        expect(untouched.text).toBe(bytes.toString('latin1'));
        expect(untouched.tokens).toEqual(ended.tokens);
        let outputs = 0;
        const said = { inputTokens: -1, cachedTokens: -1, outputTokens: -1, reasoningTokens: -1 };
        for (const one of all) {
          outputs += outputsOf(one);
          for (const [name, value] of Object.entries(readUsage(one) ?? {})) {
            if (value >= 0) said[name as keyof typeof said] = value;
          }
        }
        const isMetered = said.inputTokens >= 0 || said.outputTokens >= 0;
        const inputTokens = said.inputTokens >= 0 ? said.inputTokens : 1000;
        expect(ended).toMatchObject({ isMetered, outputEvents: outputs, ending: 'complete' });
        expect(ended.tokens).toEqual({
          inputTokens,
          outputTokens: isMetered ? Math.max(0, said.outputTokens) : outputs,
          cachedTokens: Math.min(inputTokens, Math.max(0, said.cachedTokens)),
          reasoningTokens: Math.max(0, said.reasoningTokens),
        });
      }),
      { numRuns: 1500 },
    );
  });

  test('JSON', () => {
    fc.assert(
      fc.property(fc.record({ a: text, usage, b: text }), cuts, (body, at) => {
        const bytes = Buffer.from(JSON.stringify(body, null, body.a.length % 3));
        const { isMetered, tokens } = metered(cutAt(bytes, at), 'json', { reused });
        const said = readUsage(body);
        expect(isMetered).toBe(said !== null);
        if (said === null) return;
        const inputTokens = said.inputTokens >= 0 ? said.inputTokens : 1000;
        expect(tokens).toMatchObject({ inputTokens, outputTokens: Math.max(0, said.outputTokens) });
      }),
      { numRuns: 1000 },
    );
  });
});

test('meters are reused and forget the last response', () => {
  const pool = new MeterPool();
  const [one, two] = [pool.take(), pool.take()];
  expect(two).not.toBe(one);
  one.begin('json', false);
  one.piece(Buffer.from('{"usage":{"prompt_tokens":3,"completion_tokens":2}}'));
  pool.give(one);
  const again = pool.take();
  expect(again).toBe(one);
  expect(again.isSettled).toBe(false);
  again.finish(false, 7, 9);
  expect(again).toMatchObject({ inputTokens: 7, outputTokens: 0, isMetered: false, ending: 'cut' });
});
