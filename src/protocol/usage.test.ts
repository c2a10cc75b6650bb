import { describe, expect, test } from 'vitest';
import { isUsageChunk, mayHaveUsage, readUsage, usageBody } from './usage.js';

describe('usage', () => {
  test.each<[string, unknown, ReturnType<typeof readUsage>]>([
    ['OpenAI', { usage: usageBody(10, 5, 4) }, { promptTokens: 10, completionTokens: 5, cachedTokens: 4 }],
    ['no details', { usage: usageBody(10, 5, null) }, { promptTokens: 10, completionTokens: 5, cachedTokens: null }],
    ['embeddings', { usage: { prompt_tokens: 7 } }, { promptTokens: 7, completionTokens: 0, cachedTokens: null }],
    [
      'responses',
      { response: { usage: { input_tokens: 3, output_tokens: 2, input_tokens_details: { cached_tokens: 1 } } } },
      { promptTokens: 3, completionTokens: 2, cachedTokens: 1 },
    ],
    [
      'messages',
      { message: { usage: { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 1 } } },
      { promptTokens: 3, completionTokens: 2, cachedTokens: 1 },
    ],
    [
      'llama.cpp',
      { usage: { prompt_tokens: 9, completion_tokens: 2 }, timings: { cache_n: 8 } },
      { promptTokens: 9, completionTokens: 2, cachedTokens: 8 },
    ],
    ['none', { choices: [] }, null],
    ['null', { usage: null }, null],
    ['empty', { usage: {} }, null],
    ['odd', { usage: { prompt_tokens: '9', completion_tokens: -1 } }, null],
    ['no object', 3, null],
  ])('%s', (_, response, expected) => {
    expect(readUsage(response)).toEqual(expected);
  });

  test('adds up', () => {
    expect(usageBody(10, 5, 0)).toMatchObject({ total_tokens: 15, prompt_tokens_details: { cached_tokens: 0 } });
  });
});

describe('an event', () => {
  const may = (text: string) => {
    const bytes = Buffer.from(`xx${text}yy{`);
    return mayHaveUsage(bytes, 2, bytes.length - 3);
  };

  test.each([
    ['{"choices":[],"usage":{"prompt_tokens":1}}', true],
    ['{"usage" : {"prompt_tokens":1}}', true],
    ['{"usage":null,"x":"usage"}', false],
    ['{"a":{"usage":null},"usage":{}}', true],
    ['{"usage":', false],
    ['{"choices":[{}]}', false],
  ])('%s may have usage: %j', (text, expected) => {
    expect(may(text)).toBe(expected);
  });

  test('with usage alone is the added one', () => {
    expect(isUsageChunk({ choices: [], usage: usageBody(1, 1, null) })).toBe(true);
    expect(isUsageChunk({ choices: [{}], usage: usageBody(1, 1, null) })).toBe(false);
    expect(isUsageChunk({ choices: [], usage: null })).toBe(false);
    expect(isUsageChunk(null)).toBe(false);
  });
});
