import { describe, expect, test } from 'vitest';
import { randomStream } from '../kernel/random-stream.js';
import { planResponse } from './response.js';
import { FIRST, INNER, LAST, responseText } from './response-text.js';

const text = (seed: number, endAt: number, tokens: number) => responseText(randomStream(seed, 'text'), endAt, tokens);
const PLAIN = { minTokens: 0, ignoreEos: false, stop: [], includeStop: false };

describe('words', () => {
  test('fill whole tokens', () => {
    for (const word of FIRST) expect(word).toMatch(/^[A-Z][a-z]{3}$/);
    INNER.forEach((words, i) => {
      for (const word of words) expect(word).toMatch(new RegExp(`^[a-z]{${4 * (i + 1) - 1}}$`));
    });
    LAST.forEach((words, i) => {
      for (const word of words) expect(word).toMatch(new RegExp(`^[a-z]{${4 * (i + 1) - 2}}$`));
    });
  });
});

describe('the text of a response', () => {
  test.each([1, 2, 3, 7, 20, 100, 1000])('of %i tokens has four characters for each and ends a sentence', (tokens) => {
    for (let seed = 0; seed < 50; seed++) {
      const response = text(seed, tokens, tokens);
      expect(response).toHaveLength(4 * tokens);
      if (tokens > 1) expect(response.endsWith('.')).toBe(true);
      expect(JSON.stringify(response)).toBe(`"${response}"`);
    }
  });

  test('has the same prefix for any length', () => {
    const long = text(3, 60, 200);
    for (const tokens of [1, 10, 59, 60, 61]) expect(long.startsWith(text(3, 60, tokens))).toBe(true);
    expect(text(4, 60, 60)).not.toBe(text(3, 60, 60));
  });
});

describe('a response', () => {
  const natural = planResponse(PLAIN, 100_000, 200, 1);

  test('ends by itself', () => {
    expect(natural).toMatchObject({ finishReason: 'stop', stopReason: null });
    expect(natural.text).toHaveLength(4 * natural.tokens);
    expect(planResponse(PLAIN, 100_000, 200, 1)).toEqual(natural);
  });

  test('has the requested mean length', () => {
    const lengths = Array.from({ length: 4000 }, (_, seed) => planResponse(PLAIN, 100_000, 50, seed).tokens);
    const mean = lengths.reduce((a, b) => a + b) / lengths.length;
    expect(mean).toBeGreaterThan(47);
    expect(mean).toBeLessThan(53);
    expect(new Set(lengths).size).toBeGreaterThan(50);
  });

  test('is cut off at the end of the context', () => {
    const cut = planResponse(PLAIN, natural.tokens - 1, 200, 1);
    expect(cut).toMatchObject({ tokens: natural.tokens - 1, finishReason: 'length' });
    expect(natural.text.startsWith(cut.text)).toBe(true);
    expect(planResponse(PLAIN, natural.tokens, 200, 1)).toEqual(natural);
  });

  test('continues to its minimum length', () => {
    const on = planResponse({ ...PLAIN, ignoreEos: true }, natural.tokens + 50, 200, 1);
    expect(on).toMatchObject({ tokens: natural.tokens + 50, finishReason: 'length' });
    expect(on.text.startsWith(natural.text)).toBe(true);
    const least = natural.tokens + 20;
    expect(planResponse({ ...PLAIN, minTokens: least }, 100_000, 200, 1).tokens).toBe(least + 1);
    expect(planResponse({ ...PLAIN, minTokens: least }, least, 200, 1)).toMatchObject({
      tokens: least,
      finishReason: 'length',
    });
  });

  test('ends before a stop string', () => {
    const dot = natural.text.indexOf('.');
    const stopped = planResponse({ ...PLAIN, stop: ['%', '.'] }, 100_000, 200, 1);
    expect(stopped).toEqual({
      text: natural.text.slice(0, dot),
      tokens: Math.ceil((dot + 1) / 4),
      finishReason: 'stop',
      stopReason: '.',
    });
    const shown = planResponse({ ...PLAIN, stop: ['.'], includeStop: true }, 100_000, 200, 1);
    expect(shown.text).toBe(natural.text.slice(0, dot + 1));
    expect(planResponse({ ...PLAIN, stop: ['%'] }, 100_000, 200, 1)).toEqual(natural);
  });

  test('ends at the stop string that is complete first', () => {
    const [first, second] = [natural.text.slice(6, 20), natural.text.slice(8, 10)];
    expect(planResponse({ ...PLAIN, stop: [first, second] }, 100_000, 200, 1).stopReason).toBe(second);
  });

  test('does not end at a stop string that comes too early', () => {
    const dots = [...natural.text.matchAll(/\./g)].map(({ index }) => index);
    const minTokens = Math.ceil((dots[0]! + 1) / 4);
    const stopped = planResponse({ ...PLAIN, stop: ['.'], minTokens }, 100_000, 200, 1);
    expect(stopped.text).toBe(natural.text.slice(0, dots[1]));
  });
});
