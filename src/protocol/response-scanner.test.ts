import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject, type JsonObject } from './json/json-body.js';
import { readUsage } from './read-usage.fixture.js';
import { EventType } from './response-fields.js';
import { ResponseScanner } from './response-scanner.js';

/** The result of a scanner for a response in pieces, each in a buffer that is overwritten once it was pushed. */
function scan(pieces: readonly Uint8Array[], scanner = new ResponseScanner()) {
  scanner.reset();
  for (const piece of pieces) {
    const bytes = Buffer.concat([Buffer.from('"'), piece, Buffer.from('"')]);
    scanner.push(bytes, 1, bytes.length - 1);
    bytes.fill(0x22);
  }
  const usage = { inputTokens: -1, cachedTokens: -1, outputTokens: -1, reasoningTokens: -1 };
  const { hasError, hasOwnUsage, isOver, isWithoutChoice, outputs, type } = scanner;
  const said = scanner.readUsage(usage) ? usage : null;
  return { usage: said, hasError, hasOwnUsage, isOver, isWithoutChoice, outputs, type };
}

/** The same from the whole. */
function plainly(text: string): ReturnType<typeof scan> {
  const answer: unknown = JSON.parse(text);
  const object: JsonObject = isObject(answer) ? answer : {};
  const choices = Array.isArray(object.choices) ? object.choices : null;
  return {
    usage: readUsage(answer),
    hasError: isSomething(object.error) || Array.isArray(object.error) || isObject(object.error) || object.error === '',
    hasOwnUsage: isObject(object.usage),
    isOver: typeof answer === 'object' && answer !== null,
    isWithoutChoice: choices?.length === 0,
    outputs: choices?.filter(hasOutput).length ?? 0,
    type: typeOf(object.type),
  };
}

function hasOutput(choice: unknown): boolean {
  if (!isObject(choice)) return false;
  if (isSomething(choice.text)) return true;
  if (!isObject(choice.delta)) return false;
  return Object.entries(choice.delta).some(([name, value]) => name !== 'role' && isSomething(value));
}

function isSomething(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function typeOf(type: unknown): number {
  if (typeof type !== 'string' || type.length > 48) return EventType.other;
  if (type === 'content_block_delta' || /..*\.delta$/.test(type)) return EventType.output;
  if (['response.completed', 'response.incomplete', 'message_stop'].includes(type)) return EventType.end;
  return ['response.failed', 'error'].includes(type) ? EventType.failure : EventType.other;
}

const halves = (bytes: Buffer, at: number) => [bytes.subarray(0, at), bytes.subarray(at)];

function expectHoweverCut(text: string): void {
  const bytes = Buffer.from(text);
  const expected = plainly(text);
  const scanner = new ResponseScanner();
  for (let at = 0; at <= bytes.length; at++) {
    expect(scan(halves(bytes, at), scanner), `cut at ${at}: ${text}`).toEqual(expected);
  }
  const single = [...bytes].map((byte) => Uint8Array.of(byte));
  expect(scan(single, scanner), `byte by byte: ${text}`).toEqual(expected);
}

const CHUNK = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content: 'a "word" \\' }, finish_reason: null }],
  usage: null,
};
const USAGE = {
  prompt_tokens: 12,
  completion_tokens: 345,
  total_tokens: 357,
  prompt_tokens_details: { cached_tokens: 8, audio_tokens: 1 },
  completion_tokens_details: { reasoning_tokens: 77 },
};

describe('responses', () => {
  test.each<[string, unknown]>([
    ['a chunk', CHUNK],
    ['the chunk with usage', { ...CHUNK, choices: [], usage: USAGE }],
    ['usage first', { usage: USAGE, choices: [{ message: { content: '{"usage":{"prompt_tokens":9}}' } }] }],
    ['an opening', { choices: [{ delta: { role: 'assistant', content: '' } }] }],
    ['two choices and one', { choices: [{ text: 'a' }, { text: '' }, { delta: { reasoning: 'b' } }] }],
    ['calls', { choices: [{ delta: { tool_calls: [{ function: { arguments: '' } }] } }] }],
    [
      'nothing much',
      { choices: [{ delta: { content: null, tool_calls: [], function_call: {}, n: 3 } }, null, 'x', 3] },
    ],
    ['a delta of responses', { type: 'response.function_call_arguments.delta', delta: 'x' }],
    ['a delta of messages', { type: 'content_block_delta', delta: { type: 'text_delta', text: 'x' } }],
    ['ends', { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 2 } } }],
    ['ends early', { type: 'response.incomplete' }],
    ['stops', { type: 'message_stop' }],
    ['fails', { type: 'response.failed', response: { error: {}, usage: null } }],
    ['an error', { error: { message: 'x' } }],
    ['an error in a word', { error: 'x' }],
    ['no error', { error: null, type: 'x.delta.y' }],
    ['other types', { type: `${'x'.repeat(43)}.delta.x` }],
    ['vectors', { data: [{ embedding: [1, -2.5e-3, 3] }, { embedding: 'ab==' }], usage: { prompt_tokens: 3 } }],
    ['a long text', { id: `${'\\"x'.repeat(40)}\\`, usage: USAGE, tail: '\\'.repeat(70) }],
    ['a list', [{ usage: USAGE }]],
  ])('%s', (_, answer) => {
    expectHoweverCut(JSON.stringify(answer));
    expectHoweverCut(JSON.stringify(answer, null, '\t'));
  });

  test.each([
    '{"usage":{"prompt_tokens":1},"usage":null}',
    '{"usage":{"prompt_tokens":1},"usage":{"completion_tokens":2}}',
    '{"usage":{"prompt_tokens":1,"prompt_tokens":"1","completion_tokens":3}}',
    '{"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":4},"input_tokens_details":{}}}',
    '{"response":{"usage":{"input_tokens":1}},"response":3}',
    '{"message":{"usage":{"input_tokens":1}},"message":{"usage":{"input_tokens":2}}}',
    '{"usage":{"prompt_tokens":1},"timings":{"cache_n":3,"cache_n":null}}',
    '{"usage":{"prompt_tokens":1},"timings":{"cache_n":3},"timings":[]}',
    '{"choices":[{"text":"x"}],"choices":[]}',
    '{"choices":[],"choices":null,"type":"message_stop","type":0,"error":"","error":null}',
    '{"usage":{"prompt_tokens":1e3,"completion_tokens":2.0,"total_tokens":00.1}}'.replace('00.1', '0.1'),
    `{"usage":{"prompt_tokens":${'1'.repeat(60)},"completion_tokens":1000000000000000000,"total_tokens":7}}`,
  ])('%s: the last of equal names counts, and numbers are numbers', (text) => {
    expectHoweverCut(text);
  });

  const gap = fc.constantFrom('', '', '', ' ', '\n', '\t \r\n');
  const scalar = fc.oneof(
    fc.nat(5000).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.constantFrom(
      'null',
      'true',
      'false',
      '""',
      '[]',
      '{}',
      '"x"',
      '"message_stop"',
      '"a.delta"',
      '"error"',
      '-0',
      '3e2',
    ),
    fc.string({ maxLength: 40 }).map((value) => JSON.stringify(value)),
  );
  const name = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('usage', 'response', 'message', 'timings', 'choices', 'type', 'error') },
    { weight: 9, arbitrary: fc.constantFrom('delta', 'text', 'role', 'content', 'cached_tokens', 'reasoning_tokens') },
    { weight: 9, arbitrary: fc.constantFrom('prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens') },
    {
      weight: 9,
      arbitrary: fc.constantFrom(
        'total_tokens',
        'cache_read_input_tokens',
        'cache_creation_input_tokens',
        'prompt_tokens_details',
        'input_tokens_details',
        'completion_tokens_details',
        'output_tokens_details',
        'cache_n',
      ),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 60 }).filter((given) => given !== '__proto__') },
  );
  type Member = [string, string, string, string, string, string];
  const objectOf = (members: readonly Member[]) =>
    `{${members.map(([a, key, b, c, inner, d]) => `${a}${JSON.stringify(key)}${b}:${c}${inner}${d}`).join(',')}}`;
  const { value, twice } = fc.letrec<{ value: string; object: string; array: string; twice: string }>((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, scalar, tie('object'), tie('array'), tie('object')),
    object: fc
      .uniqueArray(fc.tuple(gap, name, gap, gap, tie('value'), gap), { maxLength: 6, selector: ([, key]) => key })
      .map(objectOf),
    array: fc
      .array(fc.tuple(gap, tie('value'), gap), { maxLength: 4 })
      .map((elements) => `[${elements.map(([a, inner, b]) => a + inner + b).join(',')}]`),
    twice: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(fc.tuple(gap, name, gap, gap, tie('twice'), gap), { maxLength: 9 }).map(objectOf),
    ),
  }));
  /** Output is not reset when a name is repeated, so names are repeated only without output. */
  const answer = fc
    .array(
      fc.oneof(
        fc.tuple(name, value),
        fc.tuple(fc.constantFrom('usage', 'response', 'message', 'timings'), twice),
        fc.tuple(fc.constant('usage'), twice),
      ),
      { maxLength: 7 },
    )
    .map((members) => `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${inner}`).join(',')}}`);

  test('of any kind, cut anywhere, give the result of the whole', () => {
    const scanner = new ResponseScanner();
    fc.assert(
      fc.property(fc.oneof(answer, value), fc.array(fc.nat(400), { maxLength: 6 }), (text, cuts) => {
        fc.pre(/^[{[]/.test(text));
        const bytes = Buffer.from(text);
        const places = [...new Set(cuts.filter((at) => at < bytes.length))].sort((a, b) => a - b);
        const pieces = [...places, bytes.length].map((to, i) => bytes.subarray(i === 0 ? 0 : places[i - 1], to));
        expect(scan(pieces, scanner)).toEqual(plainly(text));
      }),
      { numRuns: 4000 },
    );
  });
});

describe('what is not a response', () => {
  test.each([
    ['', false],
    ['}]', false],
    ['3', false],
    ['"usage"', false],
    ['<html>{}</html>', true],
    [`${'{"response":'.repeat(9)}${'}'.repeat(9)}`, true],
    [`{"choices":${'['.repeat(9)}`, false],
    [`{"usage":{"prompt_tokens":1`, false],
  ])('%j has no usage', (text, isOver) => {
    expect(scan([Buffer.from(text)])).toMatchObject({ usage: null, isOver });
  });
});
