import { describe, expect, test } from 'vitest';
import type { ApiKind } from './endpoints.js';
import { ApiError } from './errors.js';
import type { JsonObject } from './json/json-body.js';
import { PromptBytes } from './prompt-bytes.js';
import { writePrompt } from './write-prompt.js';

function written(kind: ApiKind, body: JsonObject): string {
  const out = new PromptBytes();
  writePrompt(kind, body, out);
  return out.view().toString();
}

const user = (content: unknown) => ({ role: 'user', content });
const chat = (...messages: unknown[]) => written('chat', { messages });

describe('a session', () => {
  test('is written in the order of a chat template', () => {
    expect(chat({ role: 'system', content: 'Be brief.' }, user('Hi')).trimEnd()).toBe(
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant',
    );
  });

  test.each(['', 'a', 'ab', 'abc', '\u00fc', 'abcd'])('with %j: the response begins at a whole token', (content) => {
    expect(Buffer.byteLength(chat(user(content))) % 4).toBe(0);
  });

  test('continues where its last turn ended', () => {
    for (const question of ['a', 'ab', 'abc', 'abcd']) {
      const first = chat(user(question));
      const response = 'Well, yes.';
      const next = chat(user(question), { role: 'assistant', content: response }, user('why?'));
      expect(next.startsWith(first + response)).toBe(true);
    }
  });

  test('shows tools, calls and parts', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const parts = [{ type: 'text', text: 'look: ' }, image, 'plain'];
    const text = written('chat', {
      tools,
      messages: [user(parts), { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] }],
    });
    expect(text).toContain(JSON.stringify(tools));
    expect(text).toMatch(/look: <\|image_url:[0-9a-f]{16}\|>plain/);
    expect(text).toContain('[{"id":"c"}]');
    expect(text).toContain(chat(user([image])).match(/<\|image_url:[0-9a-f]+/)![0]);
    expect(text).not.toContain('AAAA');
    expect(written('chat', { tools: [], messages: [user('x')] })).toBe(chat(user('x')));
  });
});

describe('other requests', () => {
  test.each<[ApiKind, JsonObject, string]>([
    ['completion', { prompt: 'ab' }, 'ab'],
    ['completion', { prompt: ['ab', 'cd'] }, 'abcd'],
    ['completion', { prompt: [0x64636261] }, 'abcd'],
    ['completion', { prompt: [[0x64636261], [0x64636261]] }, 'abcdabcd'],
    ['embedding', { input: ['a', 'b'] }, 'ab'],
    ['rerank', { query: 'q', documents: ['d', { text: 'e' }] }, 'qde'],
    ['score', { text_1: 'q', text_2: ['d', 'e'] }, 'qde'],
    [
      'messages',
      { system: 's', messages: [user('u')] },
      '<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n',
    ],
    ['responses', { input: 'u' }, '<|im_start|>user\nu<|im_end|>\n'],
    [
      'responses',
      { instructions: 's', input: [user('u')] },
      '<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n',
    ],
  ])('%s %j', (kind, body, expected) => {
    expect(written(kind, body)).toBe(expected);
  });

  test('of any size', () => {
    const text = '\u00fc'.repeat(100_000);
    expect(written('completion', { prompt: text })).toBe(text);
    const ids = Array.from({ length: 10_000 }, (_, i) => i);
    const out = new PromptBytes();
    out.add('x');
    out.clear();
    writePrompt('completion', { prompt: ids }, out);
    expect(out.length).toBe(40_000);
    expect(out.bytes.readUInt32LE(4 * 777)).toBe(777);
  });

  test('release the memory of a very long prompt', () => {
    const out = new PromptBytes();
    const before = out.bytes.length;
    out.add('x'.repeat(2_000_000));
    expect(out.bytes.length).toBeGreaterThanOrEqual(2_000_000);
    out.clear();
    expect([out.length, out.bytes.length]).toEqual([0, before]);
  });
});

describe('invalid prompts are refused', () => {
  test.each<[ApiKind, JsonObject, string]>([
    ['chat', {}, 'messages'],
    ['chat', { messages: [] }, 'messages'],
    ['chat', { messages: ['x'] }, 'messages'],
    ['chat', { messages: [{ content: 'x' }] }, 'messages'],
    ['chat', { messages: [user(3)] }, 'content'],
    ['chat', { messages: [user([3])] }, 'content'],
    ['chat', { messages: [user('x')], tools: {} }, 'tools'],
    ['completion', {}, 'prompt'],
    ['completion', { prompt: [] }, 'prompt'],
    ['completion', { prompt: {} }, 'prompt'],
    ['completion', { prompt: ['x', 3] }, 'prompt'],
    ['completion', { prompt: [-1] }, 'prompt'],
    ['completion', { prompt: [1.5] }, 'prompt'],
    ['embedding', { input: null }, 'input'],
    ['rerank', { documents: ['x'] }, 'query'],
    ['rerank', { query: 'x' }, 'documents'],
    ['rerank', { query: 'x', documents: [3] }, 'documents'],
    ['score', { text_1: 'x' }, 'text_2'],
    ['responses', {}, 'input'],
  ])('%s %j', (kind, body, param) => {
    expect(() => written(kind, body)).toThrow(ApiError);
    try {
      written(kind, body);
    } catch (error) {
      expect(error).toMatchObject({ status: 400, param });
    }
  });
});
