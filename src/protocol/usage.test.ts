import { describe, expect, test } from 'vitest';
import { readUsage } from './read-usage.fixture.js';
import { ResponseScanner } from './response-scanner.js';
import { type TokenCounts, usageBody } from './usage.js';

function scanned(answer: unknown): TokenCounts | null {
  const scanner = new ResponseScanner();
  const bytes = Buffer.from(JSON.stringify(answer));
  scanner.push(bytes, 0, bytes.length);
  const counts = { inputTokens: -1, cachedTokens: -1, outputTokens: -1, reasoningTokens: -1 };
  return scanner.readUsage(counts) ? counts : null;
}

const counts = (inputTokens: number, outputTokens: number, cachedTokens = -1, reasoningTokens = -1): TokenCounts => ({
  inputTokens,
  cachedTokens,
  outputTokens,
  reasoningTokens,
});

describe('usage', () => {
  test.each<[string, unknown, TokenCounts | null]>([
    ['OpenAI', { usage: usageBody(10, 5, 4) }, counts(10, 5, 4)],
    ['no details', { usage: usageBody(10, 5, null) }, counts(10, 5)],
    [
      'reasoning',
      { usage: { prompt_tokens: 1, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 7 } } },
      counts(1, 9, -1, 7),
    ],
    ['embeddings', { usage: { prompt_tokens: 7, total_tokens: 7 } }, counts(7, -1)],
    ['a reranker', { usage: { total_tokens: 7 } }, counts(7, -1)],
    ['an answer and a total', { usage: { completion_tokens: 2, total_tokens: 7 } }, counts(-1, 2)],
    [
      'responses',
      {
        type: 'response.completed',
        response: {
          usage: {
            input_tokens: 3,
            output_tokens: 2,
            input_tokens_details: { cached_tokens: 1 },
            output_tokens_details: { reasoning_tokens: 0 },
          },
        },
      },
      counts(3, 2, 1, 0),
    ],
    [
      'messages',
      {
        message: {
          usage: { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 10, cache_creation_input_tokens: 100 },
        },
      },
      counts(113, 2, 10),
    ],
    ['llama.cpp', { usage: { prompt_tokens: 9, completion_tokens: 2 }, timings: { cache_n: 8 } }, counts(9, 2, 8)],
    ['the first that has one', { message: { usage: usageBody(1, 1, 0) }, usage: usageBody(2, 2, 0) }, counts(2, 2, 0)],
    ['one deeper down', { data: { usage: usageBody(1, 1, 0) }, response: [{ usage: usageBody(1, 1, 0) }] }, null],
    ['none', { choices: [] }, null],
    ['null', { usage: null }, null],
    ['empty', { usage: {} }, null],
    ['a list', { usage: [{ prompt_tokens: 1 }] }, null],
    ['odd', { usage: { prompt_tokens: '9', completion_tokens: -1, total_tokens: 2 ** 31 } }, null],
    ['in parts', { usage: { prompt_tokens: 1.5, completion_tokens: 3 } }, counts(-1, 3)],
    ['no object', [{ usage: usageBody(1, 1, 0) }], null],
    ['a number', 3, null],
    ['a text', 'usage', null],
  ])('%s', (_, answer, expected) => {
    expect(scanned(answer)).toEqual(expected);
    expect(readUsage(answer)).toEqual(expected);
  });

  test('adds up', () => {
    expect(usageBody(10, 5, 0)).toMatchObject({ total_tokens: 15, prompt_tokens_details: { cached_tokens: 0 } });
  });
});
