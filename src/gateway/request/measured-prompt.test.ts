import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewOf } from '../../protocol/json/byte-words.js';
import { type FactsChange, fakeFacts } from './fake-facts.fixture.js';
import { MeasuredPrompt } from './measured-prompt.js';
import { BlockChain, measureInSlices } from './prompt-blocks.js';

const TEXT = 'four letters a token, and many of them';

function read(change: FactsChange, blockSize = 2) {
  const prompt = new MeasuredPrompt();
  prompt.read(fakeFacts({ body: { prompt: TEXT }, ...change }), blockSize);
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
    const longer = read({ body: { prompt: `${TEXT}, or more` } });
    expect([longer.ids.slice(0, 4), longer.words.slice(0, 8)]).toEqual([ids, words]);
    for (const other of [{ model: 'n' }, { cacheSalt: 's' }]) expect(read(other).ids[0]).not.toBe(ids[0]);
  });

  it('treats a malformed prompt as empty', () => {
    expect(read({ body: { prompt: 5 } })).toEqual({ tokens: 0, ids: [], words: [] });
    expect(read({ kind: 'chat', body: { messages: 'x' } })).toEqual({ tokens: 0, ids: [], words: [] });
  });
});

it.each([16, 7])('measures a prompt in slices as at once, in blocks of %i tokens', async (blockSize) => {
  const content = 'many words, and \n a line end '.repeat(30_000);
  const messages = [
    { role: 'user', content },
    { role: 'assistant', content: 'x' },
  ];
  const facts = fakeFacts({ kind: 'chat', body: { messages } });
  let turns = 0;
  const others = setInterval(() => turns++, 0);
  const error = await new Promise((resolve) => measureInSlices(facts, blockSize, resolve));
  clearInterval(others);
  expect([error, turns > 0]).toEqual([null, true]);
  const [sliced, whole] = [new MeasuredPrompt(), new MeasuredPrompt()];
  sliced.measure(facts, blockSize);
  whole.measure({ ...facts, measured: null }, blockSize);
  expect([sliced.tokens, sliced.blockCount]).toEqual([whole.tokens, whole.blockCount]);
  expect(sliced.blocks.subarray(0, sliced.blockCount)).toEqual(whole.blocks.subarray(0, whole.blockCount));
  expect(sliced.blockWords.subarray(0, 99)).toEqual(whole.blockWords.subarray(0, 99));
  sliced.read(facts, 5);
  whole.read(facts, 5);
  expect([sliced.blockCount, sliced.blocks[sliced.blockCount - 1]]).toEqual([
    whole.blockCount,
    whole.blocks[whole.blockCount - 1],
  ]);
});

it('treats a malformed prompt that is read in slices as empty', async () => {
  const facts = fakeFacts({ body: { prompt: ['x'.repeat(600_000), 5] } });
  await new Promise((resolve) => measureInSlices(facts, 16, resolve));
  expect([facts.measured!.tokens, facts.measured!.chain.count]).toEqual([0, 0]);
});

function chainOf(text: string, seed = 'm', blockBytes = 8): number[] {
  const chain = new BlockChain();
  const bytes = Buffer.from(text);
  chain.start(seed);
  chain.addBlocks(viewOf(bytes), bytes.length, blockBytes);
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

  it('accepts any block length in tokens and grows with the prompt', () => {
    expect(chainOf('x'.repeat(10_000), 'm', 12)).toHaveLength(833);
    expect(chainOf('x'.repeat(10_000), 'm', 12).every((id) => id >= 0 && id < 2 ** 31)).toBe(true);
  });

  it('returns the full hash of every id', () => {
    const chain = new BlockChain();
    const bytes = Buffer.from('0123456789'.repeat(800));
    chain.start('m');
    chain.addBlocks(viewOf(bytes), bytes.length, 8);
    const pairs = Array.from({ length: chain.count }, (_, i) => chain.words.subarray(2 * i, 2 * i + 2));
    expect(pairs.map(([a, b]) => (a! ^ (b! << 7)) >>> 1)).toEqual(Array.from(chain.ids.subarray(0, chain.count)));
    expect(new Set(pairs.map(([, b]) => b)).size).toBe(1000);
  });

  it('resets for every prompt', () => {
    const chain = new BlockChain();
    const bytes = Buffer.from('0123456789abcdef');
    chain.start('m');
    chain.addBlocks(viewOf(bytes), 16, 8);
    const first = Array.from(chain.ids.subarray(0, 2));
    chain.start('m');
    chain.addBlocks(viewOf(bytes), 8, 8);
    expect([chain.count, chain.ids[0]]).toEqual([1, first[0]]);
  });
});
