import { describe, expect, test } from 'vitest';
import { ApiError } from './errors.js';
import { readGenerationRequest } from './generation-request.js';
import { type JsonObject, parseJsonObject } from './json/json-body.js';

const read = (fields: JsonObject) => readGenerationRequest({ model: 'm', ...fields });

function problem(act: () => unknown): { status: number; param: string | null; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, param: error.param, message: error.message };
    throw error;
  }
  return expect.unreachable('no error');
}

describe('a body', () => {
  test('is a JSON object', () => {
    expect(parseJsonObject(Buffer.from('{"a":[1]}'))).toEqual({ a: [1] });
  });

  test.each(['', '{', '[]', 'null', '3', '"x"', '{"a":1}}', '\u0000'])('%j is invalid', (text) => {
    expect(problem(() => parseJsonObject(Buffer.from(text))).status).toBe(400);
  });
});

describe('a generation request', () => {
  test('has defaults', () => {
    expect(read({ temperature: 0.5, made_up: {} })).toEqual({
      model: 'm',
      stream: false,
      includeUsage: false,
      continuousUsage: false,
      maxTokens: null,
      minTokens: 0,
      ignoreEos: false,
      stop: [],
      includeStop: false,
      n: 1,
      seed: null,
      cacheSalt: '',
      echo: false,
    });
  });

  test('has its parameters', () => {
    const fields = { stream: true, stream_options: { include_usage: true, continuous_usage_stats: true } };
    expect(read(fields)).toMatchObject({ stream: true, includeUsage: true, continuousUsage: true });
    expect(read({ max_tokens: 5, max_completion_tokens: 7 }).maxTokens).toBe(7);
    expect(read({ max_tokens: null, stop: null, seed: null, stream_options: null })).toMatchObject({ maxTokens: null });
    expect(read({ stop: 'x' }).stop).toEqual(['x']);
    expect(read({ stop: ['x', 'y'], min_tokens: 3, max_tokens: 3, n: 2, seed: -1 })).toMatchObject({
      stop: ['x', 'y'],
      minTokens: 3,
      n: 2,
      seed: -1,
    });
  });

  test.each<[JsonObject, string]>([
    [{ model: undefined }, 'model'],
    [{ model: 3 }, 'model'],
    [{ stream: 'yes' }, 'stream'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ max_tokens: '10' }, 'max_tokens'],
    [{ max_completion_tokens: 0 }, 'max_completion_tokens'],
    [{ max_tokens: -1 }, 'max_tokens'],
    [{ max_tokens: 2, min_tokens: 3 }, 'min_tokens'],
    [{ n: 0 }, 'n'],
    [{ n: 1000 }, 'n'],
    [{ seed: 'x' }, 'seed'],
    [{ stop: 3 }, 'stop'],
    [{ stop: ['a', 3] }, 'stop'],
    [{ stop: [''] }, 'stop'],
    [{ stop: Array(17).fill('x') }, 'stop'],
    [{ stream_options: { include_usage: true } }, 'stream_options'],
    [{ stream: true, stream_options: 3 }, 'stream_options'],
    [{ stream: true, stream_options: { include_usage: 1 } }, 'include_usage'],
    [{ cache_salt: {} }, 'cache_salt'],
    [{ ignore_eos: 'x' }, 'ignore_eos'],
  ])('%j is refused', (fields, param) => {
    expect(problem(() => read(fields))).toMatchObject({ status: 400, param });
  });
});
