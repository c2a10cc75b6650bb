import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeFacts } from './fake-facts.fixture.js';
import { BlockChain, isTooDeep, MeasuredPrompt } from './measured-prompt.js';
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

function chainOf(text: string, seed = 'm', blockBytes = 8): number[] {
  const chain = new BlockChain();
  const bytes = Buffer.from(text);
  chain.start(seed);
  chain.addBlocks(bytes, bytes.length, blockBytes);
  return Array.from(chain.ids.subarray(0, chain.count));
}

describe('BlockChain', () => {
  it('names full blocks only', () => {
    expect([
      chainOf('').length,
      chainOf('1234567').length,
      chainOf('12345678').length,
      chainOf('123456789').length,
    ]).toEqual([0, 0, 1, 1]);
  });

  it('gives prompts with a common prefix the same first ids, and different ones after it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.string({ maxLength: 80 }), (a, b) => {
        const [left, right] = [Buffer.from(a), Buffer.from(b)];
        const [x, y] = [chainOf(a), chainOf(b)];
        for (let block = 0; block < Math.min(x.length, y.length); block++) {
          const alike = left.subarray(0, (block + 1) * 8).equals(right.subarray(0, (block + 1) * 8));
          expect(x[block] === y[block]).toBe(alike);
        }
      }),
    );
  });

  it('has nothing in common between seeds', () => {
    const text = 'the same words over and over again, long enough for a few blocks';
    expect(chainOf(text, 'a').filter((id) => chainOf(text, 'b').includes(id))).toEqual([]);
  });

  it('depends on order: the same block elsewhere has another id', () => {
    expect(new Set(chainOf('12345678'.repeat(20))).size).toBe(20);
  });

  it('accepts any block length and grows with the prompt', () => {
    expect(chainOf('x'.repeat(10_000), 'm', 7)).toHaveLength(1428);
    expect(chainOf('x'.repeat(10_000), 'm', 7).every((id) => id >= 0 && id < 2 ** 31)).toBe(true);
  });

  it('returns the full hash of every id', () => {
    const chain = new BlockChain();
    const bytes = Buffer.from('0123456789'.repeat(800));
    chain.start('m');
    chain.addBlocks(bytes, bytes.length, 8);
    const pairs = Array.from({ length: chain.count }, (_, i) => chain.words.subarray(2 * i, 2 * i + 2));
    expect(pairs.map(([a, b]) => (a! ^ (b! << 7)) >>> 1)).toEqual(Array.from(chain.ids.subarray(0, chain.count)));
    expect(new Set(pairs.map(([, b]) => b)).size).toBe(1000);
  });

  it('resets for every prompt', () => {
    const chain = new BlockChain();
    const bytes = Buffer.from('0123456789abcdef');
    chain.start('m');
    chain.addBlocks(bytes, 16, 8);
    const first = Array.from(chain.ids.subarray(0, 2));
    chain.start('m');
    chain.addBlocks(bytes, 8, 8);
    expect([chain.count, chain.ids[0]]).toEqual([1, first[0]]);
  });
});
