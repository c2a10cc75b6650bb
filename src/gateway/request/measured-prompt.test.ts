import { describe, expect, it } from 'vitest';
import { fakeFacts } from './fake-facts.fixture.js';
import { isTooDeep, MeasuredPrompt } from './measured-prompt.js';
import type { RequestFacts } from './request-facts.js';

const FACTS = fakeFacts({ body: { prompt: 'four letters a token, and many of them' } });

function read(change: Partial<RequestFacts>, blockSize = 2) {
  const prompt = new MeasuredPrompt();
  prompt.read({ ...FACTS, ...change }, blockSize);
  const words = Array.from(prompt.blockWords.subarray(0, 2 * prompt.blockCount));
  return { tokens: prompt.tokens, ids: Array.from(prompt.blocks.subarray(0, prompt.blockCount)), words };
}

describe('MeasuredPrompt', () => {
  it('counts a token for four bytes and names full blocks', () => {
    expect([read({}).tokens, read({}).ids.length, read({}, 5).ids.length]).toEqual([10, 4, 1]);
    expect(read({ body: { prompt: 'é'.repeat(8) } })).toMatchObject({ tokens: 4, ids: { length: 2 } });
  });

  it('gives equal prefixes equal ids, for one model and one salt', () => {
    const { ids, words } = read({});
    const longer = read({ body: { prompt: `${FACTS.body.prompt}, or more` } });
    expect([longer.ids.slice(0, 4), longer.words.slice(0, 8)]).toEqual([ids, words]);
    for (const other of [{ model: 'n' }, { cacheSalt: 's' }]) expect(read(other).ids[0]).not.toBe(ids[0]);
  });

  it('treats a malformed prompt as empty, and refuses one nested too deeply', () => {
    expect(read({ body: { prompt: 5 } })).toEqual({ tokens: 0, ids: [], words: [] });
    expect(read({ kind: 'chat', body: { messages: 'x' } })).toEqual({ tokens: 0, ids: [], words: [] });
    const tools = [JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))];
    const messages = [{ role: 'user', content: 'x' }];
    expect(() => read({ kind: 'chat', body: { tools, messages } })).toThrowError(
      expect.objectContaining({ status: 400, message: 'The body is nested too deeply.' }),
    );
  });
});

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

it('finds values that are nested too deeply without exhausting the stack', () => {
  expect([isTooDeep(nested(500)), isTooDeep(nested(501))]).toEqual([false, true]);
  expect(isTooDeep(nested(200_000))).toBe(true);
  expect(isTooDeep({ a: [1, { b: null }], c: 'x' })).toBe(false);
  expect([isTooDeep({ a: { b: 1 } }, 2), isTooDeep({ a: { b: {} } }, 2)]).toEqual([false, true]);
});
