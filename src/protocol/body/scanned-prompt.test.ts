import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { ApiKind } from '../endpoints.js';
import { ApiError } from '../errors.js';
import { jsonText } from '../json/json-text.fixture.js';
import { PromptBytes } from '../prompt-bytes.js';
import { writePrompt } from '../write-prompt.js';
import { scanBody } from './scanned-body.js';
import { ScannedPrompt, SLICE_BYTES } from './scanned-prompt.js';

/** The prompt in hexadecimal digits; null when it is malformed. */
function promptOf(write: (out: PromptBytes) => void): string | null {
  const out = new PromptBytes();
  try {
    write(out);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return null;
  }
  return out.view().toString('hex');
}

function expectSame(kind: ApiKind, body: Buffer): string | null {
  const wanted = promptOf((out) => writePrompt(kind, JSON.parse(body.toString('utf8')), out));
  expect(promptOf((out) => [...new ScannedPrompt(scanBody(body), out).write(kind)])).toBe(wanted);
  return wanted;
}

const text = jsonText(['role', 'type', 'content', 'tool_calls', 'text']);
const string = fc.oneof(fc.string(), fc.string({ unit: 'binary' })).map((one) => JSON.stringify(one));
const part = fc.oneof(
  string,
  string.map((one) => `{"type" : "text","text": ${one}}`),
  text.object,
);
const content = fc.oneof(
  string,
  fc.array(part, { maxLength: 3 }).map((parts) => `[${parts}]`),
  text.value,
);
const role = fc.constantFrom('"user"', '"assistant"', '"\\u0061ssistant"', 'null', '3');
const message = fc
  .tuple(role, content, fc.option(text.value))
  .map(
    ([one, two, calls]) =>
      `{"content":${two} , "role":${one}${calls === null ? '' : `,"tool_calls":${calls}`},"type":"m"}`,
  );
const messages = fc.oneof(
  { weight: 5, arbitrary: fc.array(message, { maxLength: 3 }).map((all) => `[${all}]`) },
  text.value,
);
const prompts = fc.oneof(
  string,
  fc.array(string).map((all) => `[ ${all.join(' , ')} ]`),
  text.value,
);
const tools = fc.oneof(
  fc.constant('null'),
  fc.array(text.value, { maxLength: 2 }).map((all) => `[${all}]`),
);

const BODIES: [ApiKind, fc.Arbitrary<string>][] = [
  ['chat', fc.tuple(messages, tools).map(([one, two]) => `{"messages": ${one},"tools":${two}}`)],
  ['messages', fc.tuple(messages, content).map(([one, two]) => `{"system":${two},"messages":${one}}`)],
  ['responses', fc.tuple(messages, content).map(([one, two]) => `{"instructions":${two},"input":${one}}`)],
  ['completion', prompts.map((one) => `{"prompt":${one}}`)],
  ['embedding', prompts.map((one) => `{"prompt":1,"input":${one}}`)],
  [
    'pooling',
    fc
      .tuple(fc.constantFrom('a', 'messages'), messages, content)
      .map(([name, one, two]) => `{"input":${two},"${name}":${one}}`),
  ],
  ['moderation', content.map((one) => `{"input":${one}}`)],
  ['speech', part.map((one) => `{"input":${one}}`)],
  ['image', part.map((one) => `{"prompt":${one}}`)],
  ['rerank', fc.tuple(part, prompts).map(([one, two]) => `{"query":${one},"documents":${two}}`)],
  ['score', fc.tuple(part, prompts).map(([one, two]) => `{"text_1":${one},"text_2":${two}}`)],
];

describe('a scanned prompt', () => {
  it.each(BODIES)('is the prompt that is written from the parsed body: %s', (kind, body) => {
    let written = 0;
    fc.assert(
      fc.property(body, (one) => {
        if (expectSame(kind, Buffer.from(one)) !== null) written++;
      }),
      { numRuns: 500 },
    );
    expect(written).toBeGreaterThan(50);
  });

  it('repairs text that is not UTF-8 as decoding does', () => {
    const bytes = fc.array(fc.constantFrom(0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xff, 0xed), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(bytes, bytes, (one, two) => {
        const ends = [Buffer.from('{"prompt":"'), Buffer.from('\\n\\ud83d'), Buffer.from('"}')];
        expectSame('completion', Buffer.concat([ends[0]!, Buffer.from(one), ends[1]!, Buffer.from(two), ends[2]!]));
      }),
    );
  });

  it.each([
    ['plain text', 'a'],
    ['characters of several bytes', 'é€😀'],
    ['escapes', '\\n\\u00e9\\ud83d\\ude00x'],
  ])('pauses in a long prompt of %s, and is the same', (_, unit) => {
    const body = Buffer.from(
      `{"messages":[{"role":"user","content":"${unit.repeat(Math.ceil(700_000 / unit.length))}"}]}`,
    );
    expectSame('chat', body);
    expect([...new ScannedPrompt(scanBody(body), new PromptBytes()).write('chat')].length).toBeGreaterThan(3);
    expectSame('chat', Buffer.concat([body.subarray(0, -4), Buffer.from([0xe2]), body.subarray(-4)]));
  });

  it.each([
    ['members of a message', `{"messages":[{"role":"user",${'"a":1,'.repeat(100_000)}"content":"x"}]}`, 'chat'],
    ['messages', `{"messages":[${'{"role":"user"},'.repeat(40_000)}{"role":"user"}]}`, 'chat'],
    ['token ids', `{"prompt":[${'1,'.repeat(300_000)}4294967295]}`, 'completion'],
  ] as const)('pauses between many %s', (_, body, kind) => {
    expectSame(kind, Buffer.from(body));
    expect([...new ScannedPrompt(scanBody(Buffer.from(body)), new PromptBytes()).write(kind)].length).toBeGreaterThan(
      3,
    );
  });

  it.each([
    '0,0,7,10',
    '1, 2, 3',
    '1 ,2 , 3',
    '1,  2,\n\t3 ',
    '999999999,1000000000,4294967295,1',
    '1,4294967296',
    '12345678901234567890,1',
    '1.0,2,2.5',
    '1e2,3,100E-1',
    '3,-1',
    '3,-0',
    '1,"x"',
    '1,[2]',
    '1,null',
  ])('reads the token ids %j as after parsing', (ids) => {
    expectSame('completion', Buffer.from(`{"prompt":[${ids}]}`));
    expectSame('completion', Buffer.from(`{"prompt":[[${ids}],[5,6]]}`));
  });

  it('takes a list of tools over a mebibyte as it was sent', () => {
    const tools = `[ "${'x'.repeat(1024 * 1024)}" ]`;
    const out = new PromptBytes();
    for (const _ of new ScannedPrompt(scanBody(Buffer.from(`{"tools":${tools},"messages":[{"role":"u"}]}`)), out).write(
      'chat',
    ));
    expect(out.view().toString()).toContain(`<|im_start|>tools\n${tools}<|im_end|>\n`);
  });

  it('marks an image over a mebibyte by its bytes', () => {
    const image = (letter: string) => `{"type":"image","data":"${letter.repeat(1024 * 1024)}"}`;
    const marked = (one: string) =>
      promptOf((out) => [
        ...new ScannedPrompt(scanBody(Buffer.from(`{"messages":[{"role":"u","content":[${one}]}]}`)), out).write(
          'chat',
        ),
      ]);
    expect(Buffer.from(marked(image('a'))!, 'hex').toString()).toMatch(/<\|image:[0-9a-f]{16}\|>/);
    expect(marked(image('a'))).toBe(marked(image('a')));
    expect(marked(image('a'))).not.toBe(marked(image('b')));
  });
});

describe('a long prompt is read in slices', () => {
  const UNITS = 400_000;
  test.each([
    ['text', 'completion', `"${'word '.repeat(UNITS)}"`],
    ['escapes', 'completion', `"${'\\n'.repeat(UNITS)}"`],
    ['non-ASCII text', 'completion', `"${'ä'.repeat(UNITS)}"`],
    ['tokens', 'completion', `[${'7,'.repeat(UNITS)}7]`],
    ['empty strings', 'completion', `[${'"",'.repeat(UNITS)}""]`],
    ['short strings', 'completion', `[${'"a",'.repeat(UNITS)}"a"]`],
    ['empty parts', 'chat', `[{"role":"user","content":[${'"",'.repeat(UNITS)}""]}]`],
    ['messages', 'chat', `[${'{"role":"user","content":"hi"},'.repeat(40_000)}{"role":"user","content":"hi"}]`],
    ['images', 'chat', `[{"role":"user","content":[${'{"type":"image","url":"x"},'.repeat(40_000)}""]}]`],
    ['a part that is too long to be parsed', 'chat', `[{"role":"user","content":[{"a":[${'1,'.repeat(UNITS)}1]}]}]`],
    ['documents', 'rerank', `[${'"",'.repeat(UNITS)}""]`],
  ] as const)('of a bounded number of bytes: %s', (_, kind, value) => {
    const field = { completion: 'prompt', chat: 'messages', rerank: 'documents' }[kind];
    const bytes = Buffer.from(`{"model":"m","query":"q","${field}":${value}}`);
    const out = new PromptBytes();
    let slices = 0;
    for (const _slice of new ScannedPrompt(scanBody(bytes), out).write(kind)) slices++;
    expect(slices).toBeGreaterThanOrEqual(Math.floor(bytes.length / (2 * SLICE_BYTES)));
  });
});
